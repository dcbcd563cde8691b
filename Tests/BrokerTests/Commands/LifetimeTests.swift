import Testing

@testable import Broker

@Suite struct LifetimeTests {
    @Test(arguments: [
        ("45s", 45), ("30m", 1800), ("12h", 43_200), ("90d", 7_776_000), ("3650d", 315_360_000),
        ("1s", 1), ("007m", 420),
    ])
    func `a number with a unit is seconds`(text: String, seconds: Int64) {
        #expect(Lifetime.seconds(text) == seconds)
    }

    @Test(arguments: [
        "", "d", "90", "0d", "-1d", "+1d", "1.5h", "1 d", " 1d", "1d ", "1w", "1D", "3651d",
        "315360001s", "9223372036854775807s", "9223372036854775808d", "99999999999999999999d",
        "1dd", "٣d", "1e3s", "0x1s",
    ])
    func `anything else is refused`(_ text: String) {
        #expect(Lifetime.seconds(text) == nil)
    }
}
