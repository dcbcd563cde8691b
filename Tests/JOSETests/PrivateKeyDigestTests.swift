import JOSE
import Testing

@Suite struct PrivateKeyDigestTests {
    @Test func `a signature over a digest verifies over the text it is the digest of`() throws {
        let key = try PrivateKey.generate(.ES256)
        let text = Array("header.payload".utf8)
        let signature = try key.sign(digest: SHA256.hash(text))
        #expect(signature.count == 64)
        #expect(try PublicKey(key.publicJWK).verifies(signature, over: text))
        #expect(try !PublicKey(key.publicJWK).verifies(signature, over: text + [0]))
    }

    @Test(arguments: [0, 31, 33, 64])
    func `refuses a digest of another length`(count: Int) throws {
        let key = try PrivateKey.generate(.ES256)
        #expect(throws: KeyError.unusable) {
            try key.sign(digest: [UInt8](repeating: 1, count: count))
        }
    }

    @Test func `an RSA key signs no digest`() throws {
        let key = try PrivateKey.generate(.PS256)
        #expect(throws: KeyError.wrongAlgorithm(expected: .ES256, found: .PS256)) {
            try key.sign(digest: [UInt8](repeating: 1, count: 32))
        }
    }
}
