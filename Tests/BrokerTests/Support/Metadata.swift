/// A provider's metadata that has all a client needs, for tests that change one thing of it.
struct Metadata: Sendable {
    /// JSON texts by member.
    var members: [String: String]

    init(_ issuer: String) {
        func list(_ names: String...) -> String {
            "[\(names.map { "\"\($0)\"" }.joined(separator: ","))]"
        }
        members = [
            "issuer": "\"\(issuer)\"", "token_endpoint": "\"\(issuer)/token\"",
            "authorization_challenge_endpoint": "\"\(issuer)/challenge\"",
            "token_endpoint_auth_methods_supported": list("private_key_jwt"),
            "token_endpoint_auth_signing_alg_values_supported": list("ES256", "PS256"),
            "dpop_signing_alg_values_supported": list("ES256"),
            "code_challenge_methods_supported": list("S256"),
        ]
    }

    var text: String {
        let members = members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
        return "{\(members.joined(separator: ","))}"
    }
}
