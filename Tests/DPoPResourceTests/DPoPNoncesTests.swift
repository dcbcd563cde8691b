import Testing

@testable import DPoPResource

@Suite struct DPoPNoncesTests {
    func nonces(_ octet: UInt8 = 1, purpose: String = "test") throws -> DPoPNonces {
        DPoPNonces(try secret(octet), purpose: purpose, slotSeconds: 120)
    }

    func secret(_ octet: UInt8, since: Int64 = 0) throws -> NonceSecret {
        try #require(NonceSecret([UInt8](repeating: octet, count: 32), since: since))
    }

    @Test func `a nonce is good for one slot after its own`() throws {
        let nonces = try nonces()
        let nonce = nonces.current(1200)
        #expect(nonces.accepts(nonce, 1319))
        #expect(nonces.accepts(nonce, 1439))
        #expect(!nonces.accepts(nonce, 1440))
        #expect(!nonces.accepts(nonce, 1199))
    }

    @Test func `nonces of another key or purpose are strangers`() throws {
        let nonces = try nonces(purpose: "a")
        #expect(nonces.accepts(try self.nonces(purpose: "a").current(0), 0))
        #expect(!nonces.accepts(try self.nonces(2, purpose: "a").current(0), 0))
        #expect(!nonces.accepts(try self.nonces(purpose: "b").current(0), 0))
        #expect(!nonces.accepts("", 0))
    }

    @Test func `a nonce has only the characters of RFC 9449`() throws {
        let allowed = try nonces().current(7).utf8.allSatisfy {
            $0 == 0x21 || (0x23...0x5b).contains($0) || (0x5d...0x7e).contains($0)
        }
        #expect(allowed)
    }

    @Test(arguments: [0, 16, 31])
    func `a secret that can be guessed is none`(count: Int) {
        #expect(NonceSecret([UInt8](repeating: 7, count: count)) == nil)
    }

    @Test func `a node that rotates early takes the nonces of one that is late, and the other way`()
        throws
    {
        let (early, late) = (try nonces(), try nonces())
        early.rotate(to: try secret(2, since: 1260), now: 1200)
        for now: Int64 in 1200..<1320 {
            #expect(late.accepts(early.current(now), now) == (now < 1260))
            #expect(early.accepts(late.current(now), now))
        }
        late.rotate(to: try secret(2, since: 1260), now: 1320)
        #expect(late.accepts(early.current(1320), 1320))
        #expect(late.current(1320) == early.current(1320))
    }

    @Test func `no rotation refuses a nonce that was just given`() throws {
        let nonces = try nonces()
        nonces.rotate(to: try secret(2, since: 1260), now: 1200)
        for now: Int64 in 1200..<2400 {
            let nonce = nonces.current(now)
            for later: Int64 in [now, now + 60, now + 119] {
                #expect(nonces.accepts(nonce, later))
            }
        }
    }

    @Test func `the old secret ends three slots after the new one began`() throws {
        let stolen = try nonces()
        let nonces = try nonces()
        nonces.rotate(to: try secret(2, since: 1260), now: 1200)
        #expect(nonces.accepts(stolen.current(1619), 1619))
        #expect(!nonces.accepts(stolen.current(1620), 1620))
    }
}
