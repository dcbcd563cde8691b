import JOSE
import Testing

@Suite struct DigestTests {
    @Test func `FIPS 180-4: the digest of abc`() {
        #expect(
            SHA256.hash("abc".utf8)
                == bytes(hex: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
    }

    @Test func `the digest of nothing`() {
        #expect(
            SHA256.hash([])
                == bytes(hex: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
    }

    @Test func `RFC 4231 test cases 2 and 6: the authentication code`() throws {
        #expect(
            SHA256.authenticationCode(
                of: Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
                == bytes(hex: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
        #expect(
            SHA256.authenticationCode(
                of: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                key: [UInt8](repeating: 0xaa, count: 131))
                == bytes(hex: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"))
    }

    @Test func `an empty key and an empty message have a code`() {
        #expect(
            SHA256.authenticationCode(of: [], key: [])
                == bytes(hex: "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"))
    }

    @Test func `equality in constant time is equality`() {
        #expect(constantTimeEquals([], []))
        #expect(constantTimeEquals([1, 2], [1, 2]))
        #expect(!constantTimeEquals([1, 2], [1, 3]))
        #expect(!constantTimeEquals([1, 2], [1, 2, 0]))
        #expect(!constantTimeEquals([], [0]))
    }

    @Test func `random octets do not repeat`() throws {
        let drawn = try (0..<1000).map { _ in try SecureRandom.bytes(16) }
        #expect(Set(drawn).count == 1000)
        #expect(try SecureRandom.bytes(0) == [])
    }

    @Test func `wipe leaves nothing`() {
        var key: [UInt8] = [1, 2, 3]
        wipe(&key)
        #expect(key == [])
    }
}
