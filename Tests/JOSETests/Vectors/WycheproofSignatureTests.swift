import Testing

@testable import JOSE

/// Wycheproof's ECDSA and RSA-PSS cases; each is asserted, and so is how many there were.
@Suite struct WycheproofSignatureTests {
    @Test func `ES256 signatures as r and s of 32 octets`() throws {
        let cases = try VectorFile("wycheproof/ecdsa_secp256r1_sha256_p1363_test.json").cases
        var valid = 0
        for test in cases {
            let key = try Self.ecKey(test.group)
            let message = try #require(test.octets("msg"))
            let signature = try #require(test.octets("sig"))
            #expect(key.verifies(signature, over: message) == test.isValid, "case \(test.id)")
            if test.isValid { valid += 1 }
        }
        #expect(cases.count == 262)
        #expect(valid == 173)
    }

    @Test func `a DER signature is never a JWS signature, and converts only from its one spelling`()
        throws
    {
        let cases = try VectorFile("wycheproof/ecdsa_secp256r1_sha256_test.json").cases
        var valid = 0
        for test in cases {
            let key = try Self.ecKey(test.group)
            let message = try #require(test.octets("msg"))
            let der = try #require(test.octets("sig"))
            #expect(!key.verifies(der, over: message), "case \(test.id) as it stands")

            let converted = der.withUnsafeBufferPointer(ECDSASignature.jose(fromDER:))
            let verified = converted.map { key.verifies($0, over: message) } ?? false
            #expect(verified == test.isValid, "case \(test.id) converted")
            if let converted {
                #expect(ECDSASignature.der(fromJOSE: converted) == der, "case \(test.id) back")
            }
            if test.isValid { valid += 1 }
        }
        #expect(cases.count == 484)
        #expect(valid == 174)
    }

    @Test func `PS256 signatures`() throws {
        let cases = try VectorFile("wycheproof/rsa_pss_2048_sha256_mgf1_32_test.json").cases
        var valid = 0
        for test in cases {
            let key = try PublicKey(PublicJWK(#require(test.group["publicKeyJwk"])))
            let message = try #require(test.octets("msg"))
            let signature = try #require(test.octets("sig"))
            #expect(key.algorithm == .PS256)
            #expect(key.verifies(signature, over: message) == test.isValid, "case \(test.id)")
            if test.isValid { valid += 1 }
        }
        #expect(cases.count == 108)
        #expect(valid == 63)
    }

    /// The files spell coordinates in hexadecimal, sometimes with a sign octet.
    private static func ecKey(_ group: JSONValue) throws -> PublicKey {
        let point = try #require(group["publicKey"]?["uncompressed"]?.string.flatMap(bytes(hex:)))
        try #require(point.count == 65)
        return try PublicKey(PublicJWK(.p256(x: Array(point[1..<33]), y: Array(point[33...]))))
    }
}
