import Testing

@testable import SocketServer

@Suite struct TicketKeysTests {
    private let hour = TicketKeys.lifetime

    @Test func `a key seals for an hour, opens for another, and is gone`() throws {
        let clock = TestClock(1_000_000)
        let keys = TicketKeys { clock.now }
        let first = try #require(keys.sealing(now: clock.now))
        clock.advance(hour - 1)
        #expect(keys.sealing(now: clock.now) === first)
        #expect(keys.count == 1)
        clock.advance(1)
        let second = try #require(keys.sealing(now: clock.now))
        #expect(second !== first)
        #expect(keys.count == 2)
        #expect(opened(first, by: keys, clock) == .opensOnly)
        #expect(opened(second, by: keys, clock) == .seals)
        clock.advance(hour - 1)
        #expect(opened(first, by: keys, clock) == .opensOnly)
        clock.advance(1)
        #expect(opened(first, by: keys, clock) == .gone)
        #expect(keys.count == 1)
        clock.advance(hour)
        keys.dropOld(now: clock.now)
        #expect(keys.count == 0)
    }

    @Test func `after the clock is set back no key of the future is used`() throws {
        let clock = TestClock(1_000_000)
        let keys = TicketKeys { clock.now }
        let first = try #require(keys.sealing(now: clock.now))
        clock.advance(-1)
        #expect(opened(first, by: keys, clock) == .gone)
        #expect(keys.sealing(now: clock.now) !== first)
        #expect(keys.count == 1)
    }

    @Test func `names and keys are all different`() throws {
        let keys = try (0..<100).map { _ in try #require(TicketKey(createdAt: 0)) }
        #expect(Set(keys.map(name)).count == keys.count)
    }

    @Test(arguments: [
        (0, 0, true), (0, 3599, true), (0, 3600, false), (10, 9, false), (0, 50, true),
        (0, 51, false),
    ])
    func `a ticket is taken while it is young and what it stands for holds`(
        issuedAt: Int64, now: Int64, isTaken: Bool
    ) {
        let ends: Int64 = [50, 51].contains(now) ? 50 : 10_000
        var terms = TicketTerms(now: issuedAt, certificatesEnd: ends, listsEnd: nil)
        #expect(terms.holdsUntil == ends)
        terms.issuedAt = issuedAt
        #expect(terms.allow(now: now) == isTaken)
    }

    @Test func `a full handshake counts no longer than the first of its ends, nor than a day`() {
        #expect(TicketTerms(now: 5, certificatesEnd: nil, listsEnd: nil).holdsUntil == 86_405)
        #expect(TicketTerms(now: 5, certificatesEnd: nil, listsEnd: 7).holdsUntil == 86_405)
        #expect(TicketTerms(now: 5, certificatesEnd: 90_000, listsEnd: 7).holdsUntil == 7)
        #expect(TicketTerms(now: 5, certificatesEnd: 6, listsEnd: 7).holdsUntil == 6)
        #expect(
            TicketTerms(now: 5, certificatesEnd: 1 << 40, listsEnd: 1 << 40).holdsUntil == 86_405)
    }

    private enum Opened { case seals, opensOnly, gone }

    private func opened(_ key: TicketKey, by keys: TicketKeys, _ clock: TestClock) -> Opened {
        guard let (found, seals) = keys.opening(name: name(key), now: clock.now) else {
            return .gone
        }
        #expect(found === key)
        return seals ? .seals : .opensOnly
    }

    private func name(_ key: TicketKey) -> [UInt8] { key.name }
}
