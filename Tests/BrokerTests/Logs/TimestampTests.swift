import JOSE
import TestKit
import Testing

@testable import Broker

@Suite struct TimestampTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000000Z"), (-1, "1969-12-31T23:59:59.999999Z"),
        (951_782_399_999_999, "2000-02-28T23:59:59.999999Z"),
        (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
        (4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z"),
        (1_772_323_199_000_123, "2026-02-28T23:59:59.000123Z"),
        (-62_135_596_800_000_000, "0001-01-01T00:00:00.000000Z"),
        (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
    ])
    func `known instants`(microseconds: Int64, text: String) {
        #expect(Timestamp.rfc3339(microseconds: microseconds) == text)
        #expect(Timestamp.microseconds(rfc3339: text) == microseconds)
    }

    @Test(arguments: [
        "", "2026-02-28", "2026-02-28T23:59:59Z", "2026-02-28T23:59:59.000123z",
        "2026-02-28t23:59:59.000123Z", "2026-02-28 23:59:59.000123Z", "2026-02-28T23:59:59.000123+",
        "2026-02-29T00:00:00.000000Z", "2100-02-29T00:00:00.000000Z", "2026-04-31T00:00:00.000000Z",
        "2026-00-01T00:00:00.000000Z", "2026-13-01T00:00:00.000000Z", "2026-01-00T00:00:00.000000Z",
        "2026-01-01T24:00:00.000000Z", "2026-01-01T00:60:00.000000Z", "2026-01-01T00:00:60.000000Z",
        "+026-01-01T00:00:00.000000Z", "2026-01-01T00:00:00.00000\u{0661}",
    ])
    func `reads no other spelling and no moment that is not`(text: String) {
        #expect(Timestamp.microseconds(rfc3339: text) == nil)
    }

    @Test func `the same text as Python writes, over every era`() async throws {
        var random = SeededRandom(seed: 7)
        var instants = (0..<20_000).map { _ in
            Int64.random(in: -62_135_596_800_000_000...253_402_300_799_999_999, using: &random)
        }
        // Each end of every month of 400 years, where the calendar's rules meet.
        var day: Int64 = -135_140
        while day < 10_957 {
            instants += [day * 86_400_000_000 - 1, day * 86_400_000_000]
            day += Int64.random(in: 1...20, using: &random)
        }
        let answers = try await Oracle.ask(
            "timestamps.py", instants.map { "{\"microseconds\":\($0)}" })
        for (instant, answer) in zip(instants, answers) {
            #expect(Timestamp.rfc3339(microseconds: instant) == answer["text"]?.string)
            #expect(
                answer["text"]?.string.flatMap { Timestamp.microseconds(rfc3339: $0) } == instant)
        }
    }
}
