import Dispatch
import JOSE
import Synchronization
import Testing

@testable import ClientShim

@Suite struct AuthnTests {
    /// A disk that fails, or that makes everyone wait for a while.
    private final class HeldStore: SecureStore, LockAnnouncing {
        private let inner = InMemorySecureStore()
        private let gate = DispatchSemaphore(value: 0)
        private let isHeld = Atomic(false)
        let waiting = Counter()
        let isBroken = Atomic(false)

        func hold() { isHeld.store(true, ordering: .sequentiallyConsistent) }

        func letGo() {
            isHeld.store(false, ordering: .sequentiallyConsistent)
            gate.signal()
        }

        private func enter() throws(SecureStoreError) {
            if isBroken.load(ordering: .sequentiallyConsistent) {
                throw .failed(details: "no disk")
            }
            guard isHeld.load(ordering: .sequentiallyConsistent) else { return }
            waiting.increment()
            gate.wait()
            gate.signal()
        }

        func read(_ name: String) throws(SecureStoreError) -> [UInt8]? {
            try enter()
            return try inner.read(name)
        }

        func replace(_ name: String, with bytes: [UInt8]) throws(SecureStoreError) {
            try enter()
            try inner.replace(name, with: bytes)
        }

        func remove(_ name: String) throws(SecureStoreError) {
            try enter()
            try inner.remove(name)
        }

        func names(prefix: String) throws(SecureStoreError) -> [String] {
            try enter()
            return try inner.names(prefix: prefix)
        }

        func tryLock(_ name: String) throws(SecureStoreError) -> (any StoreLock)? {
            try enter()
            return try inner.tryLock(name)
        }

        func whenReleased(_ name: String) async { await inner.whenReleased(name) }
    }

    private func environment(_ store: any SecureStore) -> AuthnEnvironment {
        AuthnEnvironment(
            keyStore: InMemoryKeyStore(), store: store,
            transport: ScriptedTransport { _ in .unsent(.unreachable) },
            faceEngine: ScriptedFaceEngine(), clock: ManualClock())
    }

    @Test func `R-100-04 controls return while the SDK's own threads wait for a disk`() async throws
    {
        let store = HeldStore()
        let authn = try Authn(environment: environment(store))
        store.hold()
        // Were any of these to touch the disk itself, the test would never get past it.
        let flow = authn.startSignInFlow(
            config: SignInConfig(issuer: World.issuer, clientId: World.clientId))
        let driver = flow.faceCaptureDriver()
        driver.submitFaceCapture(FaceFrame([1]))
        driver.retry()
        flow.retry()
        _ = flow.stateStream()
        #expect(authn.currentSession() == nil)
        #expect(await eventually { store.waiting.value > 0 })
        flow.cancel()
        store.letGo()
        let states = await flow.stateStream().reduce(into: []) { $0.append($1) }
        #expect(states == [.cancelled])
    }

    /// No `default`: a second case does not compile.
    private func details(_ error: AuthnInitError) -> String {
        switch error {
        case .Internal(let details): details
        }
    }

    @Test func `R-100-05 a disk that cannot be read is AuthnInitError.Internal`() throws {
        let store = HeldStore()
        store.isBroken.store(true, ordering: .sequentiallyConsistent)
        let error = #expect(throws: AuthnInitError.self) {
            try Authn(environment: environment(store))
        }
        #expect(error.map(details)?.contains("no disk") == true)
    }

    @Test func `R-100-06 two flows share key and nonce, and no secret of their own`() async throws {
        let world = try await World()
        world.provider.set { $0.demandsNonce = true }
        let first = world.authn.startSignInFlow(config: world.config)
        _ = await world.drive(first, frames: 0)
        let second = world.authn.startSignInFlow(config: world.config)
        // The provider of these tests knows one session at a time: the later flow goes on to its end.
        #expect(await world.drive(second).session != nil)
        first.cancel()

        let starts = world.provider.forms(.start)
        // The nonce that the first one was asked for serves the second one too.
        #expect(starts.count == 3)
        let own = ["code_challenge", "nonce"].map { name in
            Set(starts.suffix(2).compactMap { $0[name] }).count
        }
        #expect(own == [2, 2])
        #expect(try world.keyStore.list().count { $0.hasPrefix("dpop-") } == 1)
        #expect(world.provider.violations.isEmpty)
    }

    @Test func `R-100-14 there is one session record, whoever signed in last`() async throws {
        let world = try await World()
        let first = try #require(await world.signIn().session)
        let second = try #require(await world.signIn().session)
        #expect(try world.store.names(prefix: "session") == ["session"])
        #expect(try world.restarted().currentSession() == second)
        // A view of the session that was replaced shows nothing of the new one.
        #expect(first.scope.isEmpty && first.accessTokenExpiresAt == nil)
        await #expect(throws: RefreshError.SignInRequired) { try await first.refresh() }
    }
}
