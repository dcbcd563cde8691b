import TestKit
import Testing

@testable import JOSE

/// Cases, ops "Library error queue". The queue belongs to the thread, and no test here leaves its thread.
@Suite struct ErrorQueueTests {
    private func expectEmptyQueue(_ after: String) {
        #expect(OpenSSLError.drain().reasons == [], "after \(after)")
    }

    @Test func `a thousand bad keys leave nothing behind, and the next key loads`() throws {
        let good = try TestKeys.key(.ES256).pkcs8PEM()
        var random = SeededRandom(seed: 1)
        _ = OpenSSLError.drain()
        for _ in 0..<1000 {
            var bad = good
            let index = Int.random(in: 30..<(bad.count - 30), using: &random)
            bad[index] = UInt8.random(in: 0x21...0x7e, using: &random)
            _ = try? PrivateKey(encoded: bad)
            expectEmptyQueue("a damaged PEM")
        }
        _ = try PrivateKey(encoded: good)
        expectEmptyQueue("a good key")
    }

    @Test func `every call leaves the queue empty, whether it succeeds or not`() throws {
        _ = OpenSSLError.drain()
        for algorithm in JWSAlgorithm.allCases {
            let key = try TestKeys.key(algorithm)
            let verifier = try PublicKey(key.publicJWK)
            expectEmptyQueue("a public key")
            let signature = try key.sign([1])
            expectEmptyQueue("a signature")
            #expect(verifier.verifies(signature, over: [1]))
            expectEmptyQueue("a good verification")
            #expect(!verifier.verifies(signature, over: [2]))
            expectEmptyQueue("a bad verification")
            #expect(!verifier.verifies([UInt8](repeating: 0, count: signature.count), over: [1]))
            #expect(!verifier.verifies([UInt8](repeating: 0xff, count: signature.count), over: [1]))
            expectEmptyQueue("nonsense for a signature")
            _ = try key.pkcs8PEM()
            expectEmptyQueue("writing a key")
            _ = try? PrivateKey(encoded: Array("nonsense".utf8))
            expectEmptyQueue("nonsense for a key")
        }
        #expect(throws: JWKError.self) {
            try PublicKey(
                PublicJWK(
                    .p256(x: [UInt8](repeating: 1, count: 32), y: [UInt8](repeating: 1, count: 32)))
            )
        }
        expectEmptyQueue("a point off the curve")
        #expect(throws: AESGCM.Failure.self) {
            try AESGCM.open(
                [UInt8](repeating: 0, count: 40), key: [UInt8](repeating: 0, count: 32),
                associatedData: [])
        }
        expectEmptyQueue("a forged sealed text")
    }

    @Test func `a failure reports its own cause, not the one before it`() throws {
        let pem = try TestKeys.key(.ES256).pkcs8PEM()
        let damaged = Array("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n".utf8)
        let alone = Self.reasons { () throws(KeyError) in try PrivateKey(encoded: damaged) }
        for _ in 0..<10 { _ = try? PrivateKey(encoded: Array(pem.prefix(90)) + pem.suffix(60)) }
        let later = Self.reasons { () throws(KeyError) in try PrivateKey(encoded: damaged) }
        #expect(!alone.isEmpty)
        #expect(later == alone)
    }

    private static func reasons(_ load: () throws(KeyError) -> PrivateKey) -> [String] {
        do { _ = try load() } catch .malformed(let error) { return error.reasons } catch {
            return []
        }
        return []
    }
}
