import Synchronization

/// What the flows, the session and the helper of one `Authn` share (R-100-06).
final class AuthnCore: Sendable {
    let environment: AuthnEnvironment
    let executor: any TaskExecutor
    let nonces = NonceTable()
    let offsets = ClockOffsets()
    let installKeys: InstallKeys
    let metadata: MetadataCache
    let assertions: AssertionSource
    let vault: SessionVault
    let refreshes = RefreshGate()
    private let registered = Mutex<(any ClientAssertionProvider)?>(nil)

    init(environment: AuthnEnvironment) {
        self.environment = environment
        let threads = environment.threads ?? .own()
        executor = threads.executor
        installKeys = InstallKeys(
            keyStore: environment.keyStore, store: environment.store, random: environment.random)
        metadata = MetadataCache(environment: environment, offsets: offsets)
        assertions = AssertionSource(clock: environment.clock, threads: threads)
        vault = SessionVault(
            environment: environment, installKeys: installKeys, executor: threads.executor)
    }

    /// The registered provider (R-101-10 to R-101-12); for the life of the process, never stored.
    var provider: (any ClientAssertionProvider)? {
        get { registered.withLock { $0 } }
        set { registered.withLock { $0 = newValue } }
    }

    func proofs(_ key: InstallKey) -> ProofMaker {
        ProofMaker(
            key: key, keyStore: environment.keyStore, clock: environment.clock,
            random: environment.random, nonces: nonces, offsets: offsets)
    }

    /// Calls to the endpoints of one issuer as one client.
    func caller(
        flow: String, issuer: String, clientId: String, key: InstallKey,
        provider: (any ClientAssertionProvider)?
    ) -> EndpointCaller {
        EndpointCaller(
            core: self, flow: flow, issuer: issuer, clientId: clientId, proofs: proofs(key),
            provider: provider)
    }

    /// Seconds since 1970 UTC by the clock of that URL's origin, as far as it is known.
    func providerNow(_ url: String) -> Int64 {
        let offset = RequestURL(url).map { offsets.offset(for: $0.origin) } ?? 0
        return environment.clock.now() + offset
    }
}
