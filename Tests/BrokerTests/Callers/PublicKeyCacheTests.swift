import JOSE
import Testing

@testable import Broker

@Suite struct PublicKeyCacheTests {
    static let weight = PublicKeyCache.weight(.p256(x: [], y: []))

    /// Room for two keys on P-256 in each generation.
    func small() -> PublicKeyCache { PublicKeyCache(octets: 4 * Self.weight) }

    @discardableResult
    func keep(_ jwk: PublicJWK, in cache: PublicKeyCache) throws -> PublicKey {
        let key = try PublicKey(jwk)
        cache.keep(key, for: jwk)
        return key
    }

    @Test func `a key is known once it was kept, and until it is forgotten`() throws {
        let cache = small()
        let jwk = try PrivateKey.generate(.ES256).publicJWK
        #expect(cache.known(jwk) == nil)
        let key = try keep(jwk, in: cache)
        #expect(cache.known(jwk) === key)
        cache.forget(jwk)
        #expect(cache.known(jwk) == nil)
    }

    @Test func `a kid makes no other key, and another key is never mistaken`() throws {
        let cache = PublicKeyCache()
        var jwk = try PrivateKey.generate(.ES256).publicJWK
        let key = try keep(jwk, in: cache)
        jwk.kid = "other"
        #expect(cache.known(jwk) === key)
        let stranger = try PrivateKey.generate(.ES256)
        #expect(cache.known(stranger.publicJWK) == nil)
        let signature = try stranger.sign([1])
        try keep(stranger.publicJWK, in: cache)
        #expect(cache.known(jwk)?.verifies(signature, over: [1]) == false)
        #expect(cache.known(stranger.publicJWK)?.verifies(signature, over: [1]) == true)
    }

    @Test func `what came long ago is let go, so the cache stays within its bound`() throws {
        let cache = small()
        let jwk = try PrivateKey.generate(.ES256).publicJWK
        weak let first = try keep(jwk, in: cache)
        #expect(cache.known(jwk) != nil)
        for _ in 0..<6 { try keep(try PrivateKey.generate(.ES256).publicJWK, in: cache) }
        #expect(cache.known(jwk) == nil)
        #expect(first == nil)
    }

    @Test func `the bound counts memory: a large RSA key takes the room of several on P-256`()
        throws
    {
        let cache = small()
        let jwk = try PrivateKey.generate(.ES256).publicJWK
        try keep(jwk, in: cache)
        let large = try PublicJWK(
            .rsa(modulus: [UInt8](repeating: 0xFF, count: 512), exponent: [1, 0, 1]))
        try keep(large, in: cache)
        try keep(try PrivateKey.generate(.ES256).publicJWK, in: cache)
        // Each of the two did not fit beside the one before.
        #expect(cache.known(jwk) == nil)
    }

    @Test func `forgetting gives the room back`() throws {
        let cache = small()
        let jwk = try PrivateKey.generate(.ES256).publicJWK
        try keep(jwk, in: cache)
        for _ in 0..<20 {
            let other = try PrivateKey.generate(.ES256).publicJWK
            try keep(other, in: cache)
            cache.forget(other)
        }
        #expect(cache.known(jwk) != nil)
    }
}
