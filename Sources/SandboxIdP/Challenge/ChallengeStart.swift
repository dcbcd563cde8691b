import JOSE

/// The parameters that start a sign-in, checked.
struct ChallengeStart: Sendable {
    let email: String
    let scope: Scope
    let resource: String?
    let challenge: CodeChallenge
    let nonce: String?

    /// Characters of an OpenID `nonce` that are taken (FAPI 2.0 §5.3.2.2 note 3).
    static let maximumNonce = 64

    init(
        _ form: Form, _ client: Client, _ configuration: ProviderConfiguration
    ) throws(OAuthFault) {
        challenge = try CodeChallenge(form)
        let hint = try form.required("login_hint")
        guard Directory.isAddress(hint) else { throw .invalidRequest(.malformed("login_hint")) }
        email = Directory.normalized(hint)
        scope = try Self.scope(form["scope"], client)
        nonce = form["nonce"]
        guard (nonce?.count ?? 0) <= Self.maximumNonce else {
            throw .invalidRequest(.malformed("nonce"))
        }
        resource = form["resource"]
        guard resource.map(configuration.resources.contains) ?? true else { throw .invalidTarget }
    }

    private static func scope(_ text: String?, _ client: Client) throws(OAuthFault) -> Scope {
        guard let text else { return .standard }
        guard let scope = Scope(text), scope.isWithin(client.scopes) else { throw .invalidScope }
        return scope
    }
}
