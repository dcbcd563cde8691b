/// The SDK's entry: one object per process owns the flows, the stored session and the registered
/// provider of client assertions.
public final class Authn: Sendable {
    let core: AuthnCore

    /// - Throws: `AuthnInitError` when the secure store cannot be read at all.
    public init(environment: AuthnEnvironment) throws(AuthnInitError) {
        core = AuthnCore(environment: environment)
        do {
            try core.vault.preload()
        } catch {
            throw .Internal(details: error.details)
        }
    }

    /// Starts a sign-in of a confidential client; the provider becomes the registered one (R-101-10).
    public func startSignInFlow(
        config: SignInConfig, clientAssertionProvider: any ClientAssertionProvider
    ) -> SignInFlow {
        core.provider = clientAssertionProvider
        return SignInFlow(core: core, config: config, provider: clientAssertionProvider)
    }

    /// Starts a sign-in of a public client; any registered provider is forgotten (R-101-12).
    public func startSignInFlow(config: SignInConfig) -> SignInFlow {
        core.provider = nil
        return SignInFlow(core: core, config: config, provider: nil)
    }

    /// Registers the provider at launch, for refresh and sign-out of a session that an earlier process
    /// stored (R-101-11).
    public func setClientAssertionProvider(_ provider: any ClientAssertionProvider) {
        core.provider = provider
    }

    /// Forgets the registered provider.
    public func clearClientAssertionProvider() {
        core.provider = nil
    }

    /// The stored session, `nil` when there is none or it is over (R-000-50). Asks memory only.
    public func currentSession() -> TokenSession? {
        core.vault.lastSeen.map { TokenSession(core: core, record: $0) }
    }

    /// Ends the session here at once, then at the provider as far as it can be reached (R-000-58).
    public func signOut() async {
        await withTaskExecutorPreference(core.executor) { await core.signOut() }
    }

    /// Development only: records a key that was enrolled by other means than the registration flow.
    /// The key must already be in the environment's `KeyStore` under `identity.keyLabel`.
    public func importIdentity(_ identity: Identity) async throws(AuthnInitError) {
        do {
            try Identities(store: core.environment.store).save(identity)
        } catch {
            throw .Internal(details: error.details)
        }
    }
}

/// Why an `Authn` could not be made or used.
public enum AuthnInitError: Error, Equatable, Sendable {
    /// Developer text.
    case Internal(details: String)
}
