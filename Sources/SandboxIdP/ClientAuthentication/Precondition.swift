import JOSE

/// What must hold for an application before anybody may sign in without a browser (flows §3.2). Checked on every call, so
/// that withdrawing one stops the feature at once. The raw value is the error code.
enum Precondition: String, Error, Sendable, CaseIterable {
    case ownApp = "first_party_requires_own_app"
    case dpop = "first_party_requires_dpop"
    case noCertificateBinding = "first_party_excludes_certificate_binding"
    case enabled = "first_party_not_enabled"
    case redirectURI = "redirect_uri_required"
    case redirectURIScheme = "redirect_uri_scheme"
    case clientAuthMethod = "client_auth_method"

    /// Throws the first one that `client` breaks.
    static func check(_ client: Client) throws(OAuthFault) {
        for precondition in allCases where !precondition.holds(for: client) {
            throw .notAllowed(precondition)
        }
    }

    private func holds(for client: Client) -> Bool {
        switch self {
        case .ownApp: client.ownAppRegistered
        case .dpop: client.dpopBoundAccessTokens
        case .noCertificateBinding: !client.certificateBoundAccessTokens
        case .enabled: client.firstPartyChallengeEnabled
        case .redirectURI: !client.redirectURIs.isEmpty
        case .redirectURIScheme: client.redirectURIs.allSatisfy(Self.isSecureOrLoopback)
        case .clientAuthMethod: client.tokenEndpointAuthMethod == Client.privateKeyJWT
        }
    }

    /// FAPI 2.0 §5.3.2.2: `https`, or `http` to this very machine.
    private static func isSecureOrLoopback(_ text: String) -> Bool {
        guard let uri = HTTPTargetURI(text) else { return false }
        return uri.isSecure || ["127.0.0.1", "[::1]", "localhost"].contains(uri.host)
    }
}
