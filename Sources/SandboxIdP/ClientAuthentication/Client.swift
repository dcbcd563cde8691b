/// A registered application. The tenant that owns it is the provider's only one.
struct Client: Sendable, Equatable {
    /// Its id.
    var clientId: String
    /// Where its public keys are published.
    var jwksURI: String
    /// Registered redirect URIs; first-party sign-in never redirects to them.
    var redirectURIs: [String]
    /// The scopes it may ask for.
    var scopes: [String]
    /// The registered authentication method.
    var tokenEndpointAuthMethod = Client.privateKeyJWT
    /// Whether sign-in without a browser is switched on.
    var firstPartyChallengeEnabled: Bool
    /// Whether the tenant runs its own app, with its identity registered.
    var ownAppRegistered = true
    /// Whether the application must get DPoP-bound tokens.
    var dpopBoundAccessTokens = true
    /// Whether its tokens are bound to a client certificate.
    var certificateBoundAccessTokens = false
    /// Whether this application's users must sign in in a browser for now (R-000-16).
    var browserRequired = false
    /// The users who may not use it, in lower case.
    var deniedEmails: Set<String> = []

    static let privateKeyJWT = "private_key_jwt"
}

extension Client {
    /// The scopes of a client that is declared without any.
    static let defaultScopes = [
        Scope.openid, Scope.offlineAccess, "profile", "email", AccountsAPI.transfersScope,
    ]
}
