import Synchronization
import Testing

@testable import Broker

@Suite struct VainChecksTests {
    private final class Clock: Sendable {
        private let now = Atomic<Int64>(1_000_000)
        var reading: Int64 { now.load(ordering: .relaxed) }
        func advance(_ microseconds: Int64) { now.add(microseconds, ordering: .relaxed) }
    }

    @Test func `a token has its burst, then waits exactly a step`() {
        let clock = Clock()
        let policy = RatePolicy(name: "x", burst: 3, stepMicroseconds: 1000)
        let checks = VainChecks(policy: policy) { clock.reading }
        for _ in 0..<3 {
            #expect(checks.wait(for: "a") == 0)
            checks.count("a")
        }
        #expect(checks.wait(for: "a") == 1000)
        #expect(checks.wait(for: "b") == 0, "another token has a bucket of its own")
        clock.advance(999)
        #expect(checks.wait(for: "a") == 1)
        clock.advance(1)
        #expect(checks.wait(for: "a") == 0)
        checks.count("a")
        #expect(checks.wait(for: "a") == 1000)
    }

    @Test func `what is refused while it waits is not held against it`() {
        let clock = Clock()
        let policy = RatePolicy(name: "x", burst: 1, stepMicroseconds: 1000)
        let checks = VainChecks(policy: policy) { clock.reading }
        for _ in 0..<50 { checks.count("a") }
        #expect(checks.wait(for: "a") == 1000)
    }

    @Test func `many tokens are tidied away without loss for those that wait`() {
        let clock = Clock()
        let policy = RatePolicy(name: "x", burst: 1, stepMicroseconds: 1_000_000)
        let checks = VainChecks(policy: policy) { clock.reading }
        for number in 0..<3000 {
            checks.count("\(number)")
            clock.advance(1000)
        }
        #expect(checks.count <= 1025)
        #expect(checks.wait(for: "2999") == 999_000)
        #expect(checks.wait(for: "0") == 0)
    }
}
