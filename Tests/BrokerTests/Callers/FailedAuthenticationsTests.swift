import JOSE
import SocketServer
import Synchronization
import TestKit
import Testing

@testable import Broker

@Suite struct FailedAuthenticationsTests {
    /// A steady clock that a test moves.
    final class Clock: Sendable {
        private let value = Atomic<Int64>(1_000_000_000)
        var now: Int64 { value.load(ordering: .relaxed) }
        func pass(microseconds: Int64) { value.add(microseconds, ordering: .relaxed) }
    }

    let clock = Clock()
    static let failure = BrokerError.callerUnauthenticated(.unknownToken)

    /// Three at once, then one a second.
    func failures(burst: Int64 = 3, capacity: Int = 100) -> FailedAuthentications {
        FailedAuthentications(
            LimitSettings(burst: burst, rate: 1, per: 1), capacity: capacity,
            now: { [clock] in clock.now })
    }

    func address(_ text: String) throws -> RemoteAddress { try #require(RemoteAddress(text)) }

    @Test func `a failure too many is a 429 that keeps its cause for the log`() throws {
        let failures = failures()
        let remote = try address("192.0.2.1")
        for _ in 0..<3 { #expect(failures.judge(Self.failure, from: remote) == Self.failure) }
        let refused = failures.judge(Self.failure, from: remote)
        #expect(
            refused
                == .tooManyFailures(
                    failures.policy, waitMicroseconds: 1_000_000, cause: "unknown token"))
        #expect(failures.policy.name == "failed_authentication")
        #expect(Problem(refused).status == 429)
        #expect(Problem(refused).code == .rateLimited)
    }

    @Test func `what is refused spends nothing, so waiting as long as told is enough`() throws {
        let failures = failures()
        let remote = try address("192.0.2.1")
        for _ in 0..<50 { _ = failures.judge(Self.failure, from: remote) }
        #expect(failures.wait(for: remote) == 1_000_000)
        clock.pass(microseconds: 999_999)
        #expect(failures.wait(for: remote) == 1)
        clock.pass(microseconds: 1)
        #expect(failures.wait(for: remote) == 0)
        #expect(failures.judge(Self.failure, from: remote) == Self.failure)
        #expect(failures.wait(for: remote) == 1_000_000)
    }

    static let counted: [BrokerError] = [
        .callerUnauthenticated(.missing), .callerUnauthenticated(.noGate),
        .invalidDpopProof(.signature), .dpopProofReplayed,
    ]
    static let free: [BrokerError] = [
        .useDpopNonce, .callerNotAllowed, .installBlocked, .unknownClient, .audienceNotAllowed,
        .malformedRequest("x"), .unavailable(.notReady), .unsupportedMediaType,
        .rateLimited(RatePolicy(name: "x", burst: 1, stepMicroseconds: 1), waitMicroseconds: 1),
    ]

    @Test(arguments: counted)
    func `a failed authentication counts`(_ error: BrokerError) throws {
        let failures = failures(burst: 1)
        let remote = try address("192.0.2.1")
        #expect(failures.judge(error, from: remote) == error)
        #expect(Problem(failures.judge(error, from: remote)).status == 429)
    }

    @Test(arguments: free)
    func `anything else is free, and is answered as it is also after too many failures`(
        _ error: BrokerError
    ) throws {
        let failures = failures(burst: 1)
        let remote = try address("192.0.2.1")
        for _ in 0..<3 { #expect(failures.judge(error, from: remote) == error) }
        #expect(failures.wait(for: remote) == 0)
        for _ in 0..<3 { _ = failures.judge(Self.failure, from: remote) }
        #expect(failures.judge(error, from: remote) == error)
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.2", false), ("192.0.2.1", "192.0.2.1", true),
        ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", false), ("::ffff:192.0.2.1", "192.0.2.1", true),
        ("::1", "127.0.0.1", false),
    ])
    func `IPv4 counts by address, IPv6 by its 64 bit network`(
        _ first: String, _ second: String, _ isShared: Bool
    ) throws {
        let failures = failures(burst: 1)
        _ = failures.judge(Self.failure, from: try address(first))
        #expect((failures.wait(for: try address(second)) > 0) == isShared)
    }

    @Test func `a million addresses take no more memory than the bound`() throws {
        let failures = failures(capacity: 1000)
        for number in 0..<1_000_000 {
            let text = "10.\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"
            _ = failures.judge(Self.failure, from: try address(text))
        }
        #expect(failures.count <= 1000)
        #expect(failures.count >= 500)
    }

    @Test func `an address that goes on failing is not forgotten for the sake of new ones`() throws
    {
        let failures = failures(capacity: 100)
        let attacker = try address("192.0.2.1")
        var passed = 0
        for number in 0..<10_000 {
            _ = failures.judge(
                Self.failure, from: try address("10.0.\(number >> 8).\(number & 255)"))
            if failures.judge(Self.failure, from: attacker) == Self.failure { passed += 1 }
        }
        #expect(passed == 3)
        #expect(failures.count <= 100)
    }

    /// Whatever the order and the pauses: never more than the burst and what came back.
    @Test(arguments: 0..<50)
    func `never more failures pass than the burst and what came back`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let burst = Int64.random(in: 1...20, using: &random)
        let failures = failures(burst: burst)
        let remote = try address("2001:db8::1")
        let start = clock.now
        var passed: Int64 = 0
        for _ in 0..<200 {
            clock.pass(microseconds: Int64.random(in: 0...700_000, using: &random))
            if failures.judge(Self.failure, from: remote) == Self.failure { passed += 1 }
            #expect(passed <= burst + (clock.now - start) / 1_000_000)
        }
        #expect(passed >= (clock.now - start) / 2_000_000)
    }
}
