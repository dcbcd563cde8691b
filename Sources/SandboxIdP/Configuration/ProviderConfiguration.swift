/// What the provider is set up to do, checked.
struct ProviderConfiguration: Sendable {
    var uris: EndpointURIs
    var clients: [String: Client]
    /// What a client may name as `resource`.
    var resources: [String]
    /// The tenant's name, shown on the device.
    var organisation = "Sandbox"
    var lifetimes = Lifetimes()
    var limits = ProviderLimits()
    var options = ProviderOptions()
    /// What is done about evidence for a genuine app.
    var attestation = AttestationPolicy()

    /// A provider with the demo API as its only resource.
    init(uris: EndpointURIs, clients: [Client]) {
        self.uris = uris
        self.clients = Dictionary(clients.map { ($0.clientId, $0) }) { first, _ in first }
        resources = [uris.api]
    }

    /// Every scope some client may ask for, in order.
    var scopes: [String] {
        Set(clients.values.flatMap(\.scopes)).sorted()
    }

    /// What an operator should know although it is no fault: an application that may sign in without a browser while a copy of
    /// its app could do the same (R-000-09).
    var warnings: [ConfigurationWarning] {
        guard attestation.mode != .enforce else { return [] }
        return clients.values.filter(\.firstPartyChallengeEnabled).map(\.clientId).sorted().map {
            ConfigurationWarning(
                clientId: $0,
                reason:
                    "attestation.mode is \(attestation.mode.rawValue), so a copy of the app can "
                    + "sign users in too: set it to enforce")
        }
    }
}

/// Switches of behaviour.
struct ProviderOptions: Sendable, Equatable {
    /// Whether each refresh brings a new refresh token; FAPI providers do not rotate (FAPI 2.0 §5.3.2.1 item 9).
    var rotatesRefreshTokens = false
    /// Whether even a device's first call must carry a nonce.
    var demandsNonceAtStart = false
    /// What the face-token answer says about face keys (R-000-62).
    var faceKeys = FaceKeys()

    struct FaceKeys: Sendable, Equatable {
        var isAvailable = false
        var allowsTenantScope = false
    }
}

/// The limits of R-000-70 to R-000-72.
struct ProviderLimits: Sendable, Equatable {
    var startsPerEmail = RateQuota(count: 30, seconds: 3600)
    var startsPerTenant = RateQuota(count: 600, seconds: 60)
    var requestsPerAddress = RateQuota(count: 6000, seconds: 60)
}
