import JOSE
import Testing

@testable import Broker

@Suite struct DPoPNoncesTests {
    static let old = [UInt8](repeating: 1, count: 32)
    static let new = [UInt8](repeating: 2, count: 32)
    let now: Int64 = 1_700_000_000

    func nonces(_ secrets: [[UInt8]] = [new]) throws -> DPoPNonces {
        try #require(DPoPNonces(secrets: secrets))
    }

    @Test(arguments: [[], [[UInt8](repeating: 0, count: 31)], [new, []]] as [[[UInt8]]])
    func `without a whole secret there are no nonces`(_ secrets: [[UInt8]]) {
        #expect(DPoPNonces(secrets: secrets) == nil)
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

    @Test func `while secrets rotate both are accepted and the newest makes new ones`() throws {
        let rotating = try nonces([Self.new, Self.old])
        #expect(rotating.accepts(try nonces([Self.old]).current(now: now), now: now))
        #expect(rotating.accepts(try nonces([Self.new]).current(now: now), now: now))
        #expect(rotating.current(now: now) == (try nonces([Self.new]).current(now: now)))
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
