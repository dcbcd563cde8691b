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

    private func secrets(
        _ load: @escaping SigningKeys.SecretLoader
    ) -> SigningKeys {
        SigningKeys(load: { (_) throws(KeyError) in throw .empty }, loadSecret: load)
    }

    @Test func `a secret is loaded once and kept, and anew after a reload`() async throws {
        let loads = Mutex(0)
        let keys = secrets { (_) throws(SharedSecretError) in
            loads.withLock { $0 += 1 }
            return try SharedSecret(text: Array(Sample.secretText.utf8))
        }
        let first = try await keys.secret(uri: "file:/s")
        #expect(try await keys.secret(uri: "file:/s") === first)
        #expect(loads.withLock { $0 } == 1)
        let fresh = keys.emptied()
        let second = try await fresh.secret(uri: "file:/s")
        #expect(second !== first)
        keys.adopt(fresh)
        #expect(try await keys.secret(uri: "file:/s") === second)
        keys.keep(only: ["file:/other"])
        _ = try await keys.secret(uri: "file:/s")
        #expect(loads.withLock { $0 } == 3)
    }

    @Test func `a secret that cannot be used is told by its own reason, and asked for again`()
        async throws
    {
        let faults = Mutex([SharedSecretError.guessable, .file(.permissions)])
        let keys = secrets { (_) throws(SharedSecretError) in
            guard let fault = faults.withLock({ $0.popLast() }) else {
                return try SharedSecret(text: Array(Sample.secretText.utf8))
            }
            throw fault
        }
        await #expect(throws: SharedSecretError.file(.permissions)) {
            try await keys.secret(uri: "file:/s")
        }
        await #expect(throws: SharedSecretError.guessable) {
            try await keys.secret(uri: "file:/s")
        }
        _ = try await keys.secret(uri: "file:/s")
    }

    @Test func `at one URI a key and a secret are two things`() async throws {
        let keys = secrets { (_) throws(SharedSecretError) in
            try SharedSecret(text: Array(Sample.secretText.utf8))
        }
        _ = try await keys.secret(uri: "file:/x")
        let key = try PrivateKey.generate(.ES256)
        await #expect(throws: KeyError.empty) {
            try await keys.key(uri: "file:/x", publicJWK: key.publicJWK)
        }
    }
}
