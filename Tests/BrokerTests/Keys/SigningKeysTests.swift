import JOSE
import Synchronization
import Testing

@testable import Broker

@Suite struct SigningKeysTests {
    @Test func `a key is loaded once and kept`() throws {
        let key = try PrivateKey.generate(.ES256)
        let loads = Mutex(0)
        let keys = SigningKeys { (_) throws(KeyError) in
            loads.withLock { $0 += 1 }
            return key
        }
        for _ in 0..<3 { #expect(try keys.key(uri: "file:/a", publicJWK: key.publicJWK) === key) }
        #expect(loads.withLock { $0 } == 1)
        keys.keep(only: ["file:/b"])
        _ = try keys.key(uri: "file:/a", publicJWK: key.publicJWK)
        #expect(loads.withLock { $0 } == 2)
    }

    @Test func `a file that holds another key than the declared one is refused`() throws {
        let (declared, found) = (try PrivateKey.generate(.ES256), try PrivateKey.generate(.ES256))
        let keys = SigningKeys { (_) throws(KeyError) in found }
        #expect(throws: KeyError.unusable) {
            try keys.key(uri: "file:/a", publicJWK: declared.publicJWK)
        }
    }

    @Test func `a file that was replaced together with its declaration is loaded again`() throws {
        let (old, new) = (try PrivateKey.generate(.ES256), try PrivateKey.generate(.ES256))
        let current = Mutex(old)
        let keys = SigningKeys { (_) throws(KeyError) in current.withLock { $0 } }
        _ = try keys.key(uri: "file:/a", publicJWK: old.publicJWK)
        current.withLock { $0 = new }
        #expect(try keys.key(uri: "file:/a", publicJWK: new.publicJWK) === new)
    }
}
