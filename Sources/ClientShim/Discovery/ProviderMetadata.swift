import JOSE

/// What the SDK uses of a provider's metadata (R-100-41, RFC 8414 §2).
struct ProviderMetadata: Sendable, Equatable {
    let issuer: String
    let authorizationChallengeEndpoint: String?
    let tokenEndpoint: String
    let revocationEndpoint: String?
    let devicePortalEndpoint: String?

    /// Why a document cannot be used; developer text naming the member.
    struct Unusable: Error, Equatable {
        let details: String
    }

    /// - Parameter issuer: as configured; the document's must equal it byte for byte (R-100-40).
    init(
        _ json: JSONValue, issuer: String, insecureLoopback: Bool
    ) throws(Unusable) {
        guard let named = json["issuer"]?.string, Array(named.utf8) == Array(issuer.utf8) else {
            throw Unusable(details: "the metadata's issuer is not the configured one")
        }
        func endpoint(_ name: String) throws(Unusable) -> String? {
            guard let member = json[name], !member.isNull else { return nil }
            guard let text = member.string, let url = RequestURL(text),
                url.isAllowed(insecureLoopback: insecureLoopback)
            else { throw Unusable(details: "\(name) is no https URL") }
            return text
        }
        if let algorithms = json["dpop_signing_alg_values_supported"]?.array {
            guard algorithms.contains(where: { $0.string == "ES256" }) else {
                throw Unusable(details: "the provider takes no ES256 proofs")
            }
        }
        guard let token = try endpoint("token_endpoint") else {
            throw Unusable(details: "token_endpoint is missing")
        }
        self.issuer = issuer
        tokenEndpoint = token
        authorizationChallengeEndpoint = try endpoint("authorization_challenge_endpoint")
        revocationEndpoint = try endpoint("revocation_endpoint")
        devicePortalEndpoint = try endpoint("device_portal_endpoint")
    }
}

/// Which endpoint a call goes to.
enum Endpoint: Sendable, Equatable {
    case challenge
    case token
    case revocation
    /// Path below the portal, beginning with `/`.
    case portal(String)

    /// The URL, or the name of the metadata member that is missing.
    func url(in metadata: ProviderMetadata) -> Result<String, ProviderMetadata.Unusable> {
        let (member, url) =
            switch self {
            case .challenge:
                ("authorization_challenge_endpoint", metadata.authorizationChallengeEndpoint)
            case .token: ("token_endpoint", metadata.tokenEndpoint)
            case .revocation: ("revocation_endpoint", metadata.revocationEndpoint)
            case .portal(let path):
                ("device_portal_endpoint", metadata.devicePortalEndpoint.map { $0.joined(path) })
            }
        guard let url else { return .failure(.init(details: "\(member) is missing")) }
        return .success(url)
    }
}

extension String {
    /// This base with a path behind it, and one slash between.
    func joined(_ path: String) -> String {
        hasSuffix("/") ? dropLast() + path : self + path
    }
}
