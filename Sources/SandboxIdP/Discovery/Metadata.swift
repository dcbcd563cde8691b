import JOSE
import SocketServer

/// The provider's metadata, the same document at both well-known places (RFC 8414, OpenID Discovery, R-100-41).
struct Metadata {
    private let configuration: ProviderConfiguration

    init(_ configuration: ProviderConfiguration) {
        self.configuration = configuration
    }

    var response: HTTPResponse {
        var json = JSONWriter(capacity: 2048)
        json.object { write(to: &$0) }
        return HTTPResponse(
            status: 200,
            headers: [
                ("Content-Type", "application/json"), ("Cache-Control", "public, max-age=600"),
            ],
            body: json.bytes)
    }

    private func write(to json: inout JSONWriter) {
        let uris = configuration.uris
        json.member("issuer", uris.issuer)
        json.member("jwks_uri", uris.url(Path.jwks))
        json.member("authorization_challenge_endpoint", uris.url(Path.challenge))
        json.member("token_endpoint", uris.url(Path.token))
        json.member("revocation_endpoint", uris.url(Path.revocation))
        json.member("device_portal_endpoint", uris.portal)
        let algorithms = JWSAlgorithm.allCases.map(\.rawValue)
        for endpoint in ["token_endpoint", "revocation_endpoint"] {
            json.list(endpoint + "_auth_methods_supported", [Client.privateKeyJWT])
            json.list(endpoint + "_auth_signing_alg_values_supported", algorithms)
        }
        json.list("dpop_signing_alg_values_supported", algorithms)
        json.list("code_challenge_methods_supported", ["S256"])
        json.list("grant_types_supported", ["authorization_code", "refresh_token"])
        json.list("response_types_supported", ["code"])
        json.list("subject_types_supported", ["public"])
        json.list("id_token_signing_alg_values_supported", [JWSAlgorithm.ES256.rawValue])
        json.list("scopes_supported", configuration.scopes)
        json.member("require_pushed_authorization_requests", false)
        json.member("authorization_response_iss_parameter_supported", true)
    }
}

extension JSONWriter {
    /// Writes a member with an array of strings.
    fileprivate mutating func list(_ name: String, _ values: [String]) {
        self.name(name)
        array { for value in values { $0.string(value) } }
    }
}
