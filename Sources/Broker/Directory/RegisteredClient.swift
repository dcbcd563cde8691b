import AssertionMint
import JOSE

/// A client as the service serves it.
struct RegisteredClient: Sendable {
    /// Whether the client's active key is at hand.
    enum Signing: Sendable {
        case ready(AssertionSigner)
        /// Why not, for operators; mints get a 503.
        case unusable(String)
    }

    /// Whether the client has transport tokens, and the secret that signs them is at hand.
    enum TransportTokens: Sendable {
        case notEnabled
        case ready(TransportTokenSigner)
        /// Why not, for operators; such mints get a 503.
        case unusable(String)
    }

    let id: ClientId
    let tenant: TenantId
    let settings: ClientSettings
    let signing: Signing
    /// Where the active key is in an HSM or a TPM: signatures are made through it, never on a lane.
    let device: KeyDevice?
    let transportTokens: TransportTokens
    let keySet: PublishedKeySet
    /// Published, to sign later.
    let pendingKeys: [Declaration.Key]
    /// Checks assertions of this client that come back to be consumed.
    let assertions: ClientAssertionVerifier
    /// As declared.
    let limits: MintLimits

    init(
        id: ClientId, tenant: TenantId, settings: ClientSettings, tenantSettings: TenantSettings,
        signing: Signing, device: KeyDevice? = nil,
        transportTokens: TransportTokens = .notEnabled, publicKeys: [PublicJWK],
        pendingKeys: [Declaration.Key] = []
    ) {
        self.id = id
        self.tenant = tenant
        self.settings = settings
        self.signing = signing
        self.device = device
        self.transportTokens = transportTokens
        keySet = PublishedKeySet(publicKeys)
        self.pendingKeys = pendingKeys
        assertions = ClientAssertionVerifier(
            clientId: id, issuers: settings.issuers, profile: settings.profile, keys: publicKeys)
        limits = MintLimits(
            install: settings.limits.install.policy(named: LimitScope.install.rawValue),
            client: settings.limits.client.policy(named: LimitScope.client.rawValue),
            tenant: tenantSettings.limit?.policy(named: LimitScope.tenant.rawValue),
            shadows: ShadowLimits(
                install: settings.limits.installShadow?.shadow(of: .install),
                client: settings.limits.clientShadow?.shadow(of: .client),
                tenant: tenantSettings.shadow?.shadow(of: .tenant)))
    }
}

/// A client's public keys as they are served, made once a revision.
struct PublishedKeySet: Sendable {
    let body: [UInt8]
    let tag: EntityTag

    init(_ keys: [PublicJWK]) {
        body = Array(JWKSet(keys).jsonText.utf8)
        tag = EntityTag(of: body)
    }
}
