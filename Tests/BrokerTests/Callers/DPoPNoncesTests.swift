import JOSE
import TestKit
import Testing

@testable import Broker

@Suite struct DPoPNoncesTests {
    static let old = Sample.secret(1)
    static let new = Sample.secret(2)
    let now: Int64 = 1_700_000_000

    func nonces(_ secrets: [DPoPNonces.Secret] = [new]) throws -> DPoPNonces {
        try #require(DPoPNonces(secrets: secrets))
    }

    @Test(arguments: [0, 16, 31, 33])
    func `without a whole secret there are no nonces`(length: Int) {
        let short = DPoPNonces.Secret(
            value: [UInt8](repeating: 0, count: length), age: 100, now: now)
        #expect(DPoPNonces(secrets: []) == nil)
        #expect(DPoPNonces(secrets: [short]) == nil)
        #expect(DPoPNonces(secrets: [Self.new, short]) == nil)
    }

    @Test func `a nonce is 24 base64url characters that change with the slot only`() throws {
        let nonces = try nonces()
        let start = now - now % DPoPNonces.slotSeconds
        let nonce = nonces.current(now: start)
        #expect(nonce.wholeMatch(of: /[A-Za-z0-9_-]{24}/) != nil)
        #expect(nonces.current(now: start + 59) == nonce)
        #expect(nonces.current(now: start + 60) != nonce)
        #expect(nonces.current(now: start - 1) != nonce)
    }

    @Test func `a nonce is good for its slot and the next, whatever the second`() throws {
        let nonces = try nonces()
        let start = now - now % DPoPNonces.slotSeconds
        for given in [start, start + 30, start + 59] {
            let nonce = nonces.current(now: given)
            for age in [0, 1, 59, 60] as [Int64] {
                #expect(nonces.accepts(nonce, now: given + age))
            }
            #expect(!nonces.accepts(nonce, now: start + 120))
            // A replica whose clock is behind takes it as well; one that is two slots behind does not.
            #expect(nonces.accepts(nonce, now: start - 1))
            #expect(!nonces.accepts(nonce, now: start - 61))
        }
    }

    @Test func `replicas with one secret accept each other's, with another secret not`() throws {
        let nonce = try nonces([Self.new]).current(now: now)
        #expect(try nonces([Self.new]).accepts(nonce, now: now))
        #expect(try !nonces([Self.old]).accepts(nonce, now: now))
    }

    @Test func `a new secret checks at once and makes nonces a minute after it was made`() throws {
        // Known 10 s after it was made.
        let new = Sample.secret(2, age: 10, now: now)
        let rotating = try nonces([Self.old, new])
        for later in [0, 1, 49] as [Int64] {
            #expect(
                rotating.current(now: now + later)
                    == (try nonces([Self.old]).current(now: now + later)))
            #expect(
                rotating.accepts(try nonces([new]).current(now: now + later), now: now + later))
        }
        for later in [50, 51, 86_400] as [Int64] {
            #expect(
                rotating.current(now: now + later) == (try nonces([new]).current(now: now + later)))
        }
    }

    @Test func `an old secret checks for three slots after it was replaced, and then no more`()
        throws
    {
        let replaced = now  // when the new one takes over
        let rotated = try nonces([Sample.secret(2, age: 60, now: replaced), Self.old])
        for later in [0, 60, 119, 180] as [Int64] {
            let nonce = try nonces([Self.old]).current(now: replaced + later)
            #expect(rotated.accepts(nonce, now: replaced + later))
        }
        for later in [181, 240, 86_400] as [Int64] {
            let nonce = try nonces([Self.old]).current(now: replaced + later)
            #expect(!rotated.accepts(nonce, now: replaced + later))
        }
    }

    @Test func `alone, a secret that is not active yet makes nonces all the same`() throws {
        let early = try nonces([Sample.secret(2, age: 0, now: now)])
        #expect(early.accepts(early.current(now: now), now: now))
    }

    /// Replicas learn of a rotation at different moments, and their clocks differ from the database's, each in its own way.
    @Test(arguments: 0..<100)
    func `whatever one replica hands out another accepts, all through rotations`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        // Made at these moments of the database's clock; at the start only the first is there.
        let made: [Int64] = [0, 86_400, 2 * 86_400]
        struct Replica {
            let clockAhead: Int64
            let looksAfter: Int64
            func nonces(at moment: Int64, made: [Int64]) -> DPoPNonces? {
                let known = made.enumerated().filter { $0.element + looksAfter <= moment }
                // Loaded when the newest was noticed, which is when its age was asked for.
                return DPoPNonces(
                    secrets: known.map { index, at in
                        let loaded = max((known.last?.element ?? 0) + looksAfter, at)
                        return DPoPNonces.Secret(
                            value: [UInt8](repeating: UInt8(index + 1), count: 32),
                            age: loaded - at, now: loaded + clockAhead)
                    })
            }
        }
        let replicas = (0..<2).map { _ in
            Replica(
                clockAhead: Int64.random(in: -15...15, using: &random),
                looksAfter: Int64.random(in: 1...30, using: &random))
        }
        for _ in 0..<50 {
            let near = made[Int.random(in: 1...2, using: &random)]
            let moment = near + Int64.random(in: -100...600, using: &random)
            // Used within half a minute: fresh.
            let used = moment + Int64.random(in: 0...30, using: &random)
            let (giver, taker) = (replicas[0], replicas[1])
            let handedOut = try #require(giver.nonces(at: moment, made: made)).current(
                now: moment + giver.clockAhead)
            #expect(
                try #require(taker.nonces(at: used, made: made)).accepts(
                    handedOut, now: used + taker.clockAhead),
                "handed out at \(moment), used at \(used)")
        }
    }

    @Test func `no nonce, an empty, a cut, a longer and an altered one are refused`() throws {
        let nonces = try nonces()
        let nonce = nonces.current(now: now)
        #expect(!nonces.accepts(nil, now: now))
        let first = nonce.first == "A" ? "B" : "A"
        for bad in [
            "", String(nonce.dropLast()), nonce + "A", first + nonce.dropFirst(), " " + nonce,
        ] {
            #expect(!nonces.accepts(bad, now: now))
        }
    }
}
