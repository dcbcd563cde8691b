import Dispatch
import JOSE
import Synchronization
import Testing

@testable import Broker

@Suite struct SigningKeysTests {
    @Test func `a key is loaded once and kept`() async throws {
        let key = try PrivateKey.generate(.ES256)
        let loads = Mutex(0)
        let keys = SigningKeys { (_) throws(KeyError) in
            loads.withLock { $0 += 1 }
            return key
        }
        for _ in 0..<3 {
            #expect(try await keys.key(uri: "file:/a", publicJWK: key.publicJWK).key === key)
        }
        #expect(loads.withLock { $0 } == 1)
        keys.keep(only: ["file:/b"])
        _ = try await keys.key(uri: "file:/a", publicJWK: key.publicJWK)
        #expect(loads.withLock { $0 } == 2)
    }

    @Test func `a file that holds another key than the declared one is refused`() async throws {
        let (declared, found) = (try PrivateKey.generate(.ES256), try PrivateKey.generate(.ES256))
        let keys = SigningKeys { (_) throws(KeyError) in found }
        await #expect(throws: KeyError.unusable) {
            try await keys.key(uri: "file:/a", publicJWK: declared.publicJWK)
        }
    }

    @Test func `a file that was replaced together with its declaration is loaded again`()
        async throws
    {
        let (old, new) = (try PrivateKey.generate(.ES256), try PrivateKey.generate(.ES256))
        let current = Mutex(old)
        let keys = SigningKeys { (_) throws(KeyError) in current.withLock { $0 } }
        _ = try await keys.key(uri: "file:/a", publicJWK: old.publicJWK)
        current.withLock { $0 = new }
        #expect(try await keys.key(uri: "file:/a", publicJWK: new.publicJWK).key === new)
    }

    @Test func `a key that never opens is given up, and holds up no other`() async throws {
        let key = try PrivateKey.generate(.ES256)
        let gate = DispatchSemaphore(value: 0)
        let keys = SigningKeys { (uri) throws(KeyError) in
            if uri == "file:/hung" { gate.wait() }
            return key
        }
        await #expect(throws: KeyError.notAnswering) {
            try await keys.key(uri: "file:/hung", publicJWK: key.publicJWK)
        }
        // Its thread still hangs, so nobody waits for it again.
        await #expect(throws: KeyError.notAnswering) {
            try await keys.emptied().key(uri: "file:/hung", publicJWK: key.publicJWK)
        }
        #expect(try await keys.key(uri: "file:/a", publicJWK: key.publicJWK).key === key)
        gate.signal()
    }
}
