import JOSE

/// The provider's public URIs, all made from the configured issuer: what a proof's `htu` is compared with never comes
/// from a request.
struct EndpointURIs: Sendable {
    /// The issuer identifier, as configured.
    let issuer: String
    /// The issuer's path without a last slash: what every route begins with.
    let basePath: String
    private let base: String

    /// `nil` unless `issuer` is an `https` or `http` URL without query, fragment and user part.
    init?(issuer: String) {
        guard let uri = HTTPTargetURI(issuer), !issuer.contains("?"), !issuer.contains("#"),
            uri.htu == uri.normalized
        else { return nil }
        self.issuer = issuer
        base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        let path = uri.htu.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" }
        basePath = path.hasSuffix("/") ? String(path.dropLast()) : String(path)
    }

    /// The URL of one of the provider's paths, such as `/token`.
    func url(_ path: String) -> String { base + path }

    /// The same as a DPoP target.
    ///
    /// - Throws: `notFound` for a path that cannot stand in a URI.
    func target(_ path: String) throws(OAuthFault) -> HTTPTargetURI {
        guard let uri = HTTPTargetURI(url(path)) else { throw .notFound }
        return uri
    }

    /// What the access tokens of the demo API name as `aud`.
    var api: String { url(Path.api) }

    /// The base of the device API.
    var portal: String { url(Path.portal) }
}

/// The provider's paths below its issuer.
enum Path {
    static let openIdConfiguration = "/.well-known/openid-configuration"
    static let oauthMetadata = "/.well-known/oauth-authorization-server"
    static let jwks = "/jwks"
    static let challenge = "/challenge"
    static let token = "/token"
    static let revocation = "/revoke"
    static let portal = "/portal"
    static let enrolments = "/sandbox/enrolments"
    static let applications = "/sandbox/applications"
    static let keys = "/sandbox/keys"
    static let api = "/api"
}
