import JOSE
import Testing

@testable import Broker

@Suite struct PublicKeyCacheTests {
    @Test func `the same key is parsed once while it is kept`() throws {
        let cache = PublicKeyCache(capacity: 4)
        let jwk = try PrivateKey.generate(.ES256).publicJWK
        #expect(try cache.key(for: jwk) === cache.key(for: jwk))
    }

    @Test func `a kid makes no other key, and another key is never mistaken`() throws {
        let cache = PublicKeyCache()
        var jwk = try PrivateKey.generate(.ES256).publicJWK
        let key = try cache.key(for: jwk)
        jwk.kid = "other"
        #expect(try cache.key(for: jwk) === key)
        let stranger = try PrivateKey.generate(.ES256)
        let signature = try stranger.sign([1])
        #expect(try !cache.key(for: jwk).verifies(signature, over: [1]))
        #expect(try cache.key(for: stranger.publicJWK).verifies(signature, over: [1]))
    }

    @Test func `what came long ago is let go, so the cache stays within its bound`() throws {
        let cache = PublicKeyCache(capacity: 4)
        let jwk = try PrivateKey.generate(.ES256).publicJWK
        weak let first = try cache.key(for: jwk)
        #expect(first != nil)
        for _ in 0..<6 { _ = try cache.key(for: PrivateKey.generate(.ES256).publicJWK) }
        #expect(first == nil)
    }
}
