import JOSE
import SocketServer

/// The token endpoint (RFC 6749 §3.2, RFC 9449 §5): codes and refresh tokens, nothing else.
struct TokenEndpoint: Sendable {
    let configuration: ProviderConfiguration
    let gate: ProtocolGate
    let signer: TokenSigner
    let environment: Environment
    let state: SharedState

    func answer(_ request: HTTPRequest) async throws(OAuthFault) -> HTTPResponse {
        let admitted = try await gate.admit(
            request, uri: try configuration.uris.target(Path.token)
        ) { _ in .demanded(.demanded) }
        try Precondition.check(admitted.client)
        switch try admitted.form.required("grant_type") {
        case "authorization_code": return try redeem(admitted)
        case "refresh_token": return try refresh(admitted)
        default: throw .unsupportedGrantType
        }
    }

    private func redeem(_ request: ProtocolRequest) throws(OAuthFault) -> HTTPResponse {
        let form = request.form
        let redemption = CodeRedemption(
            code: try form.required("code"), verifier: try form.required("code_verifier"),
            clientId: request.client.clientId, jkt: try request.jkt(), resource: form["resource"],
            grantId: try environment.identifier(), refreshToken: try environment.secret())
        // No redirect URI was part of the authorization, so none can be identical (first-party draft §6).
        guard form["redirect_uri"] == nil else { throw .invalidGrant(.redirectURI) }
        let grant = try state.change { (state) throws(OAuthFault) in
            try state.authorizations.redeem(
                redemption, lifetimes: configuration.lifetimes, now: request.now)
        }
        return try tokens(
            grant, scope: grant.scope, nonce: grant.nonce,
            refreshToken: grant.refreshToken == nil ? nil : redemption.refreshToken, request.now)
    }

    private func refresh(_ request: ProtocolRequest) throws(OAuthFault) -> HTTPResponse {
        let rotates = configuration.options.rotatesRefreshTokens
        let attempt = RefreshAttempt(
            refreshToken: try request.form.required("refresh_token"),
            clientId: request.client.clientId, jkt: try request.jkt(),
            scope: try Self.scope(request.form), resource: request.form["resource"],
            successor: rotates ? try environment.secret() : nil)
        let (grant, scope) = try state.change { (state) throws(OAuthFault) in
            try state.authorizations.refresh(
                attempt, lifetimes: configuration.lifetimes, now: request.now)
        }
        return try tokens(
            grant, scope: scope, nonce: nil, refreshToken: attempt.successor, request.now)
    }

    private static func scope(_ form: Form) throws(OAuthFault) -> Scope? {
        guard let text = form["scope"] else { return nil }
        guard let scope = Scope(text) else { throw .invalidScope }
        return scope
    }

    private func tokens(
        _ grant: Grant, scope: Scope, nonce: String?, refreshToken: String?, _ now: Int64
    ) throws(OAuthFault) -> HTTPResponse {
        let mint = TokenMint(
            issuer: configuration.uris.issuer, defaultAudience: configuration.uris.api,
            lifetimes: configuration.lifetimes, signer: signer, environment: environment)
        let accessToken = try mint.accessToken(grant, scope: scope, now: now)
        let idToken =
            scope.contains(Scope.openid)
            ? try mint.idToken(grant, accessToken: accessToken, nonce: nonce, now: now) : nil
        return .json(200, headers: [("Pragma", "no-cache")]) {
            $0.member("access_token", accessToken)
            $0.member("token_type", "DPoP")
            $0.member("expires_in", configuration.lifetimes.accessToken)
            $0.member("scope", scope.text)
            if let refreshToken { $0.member("refresh_token", refreshToken) }
            if let idToken { $0.member("id_token", idToken) }
        }
    }
}
