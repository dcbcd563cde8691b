import DPoPResource
import JOSE

/// Makes the tokens of a grant.
struct TokenMint: Sendable {
    let issuer: String
    /// The `aud` of an access token whose grant names no resource.
    let defaultAudience: String
    let lifetimes: Lifetimes
    let signer: TokenSigner
    let environment: Environment

    /// A DPoP-bound access token (RFC 9068, RFC 9449 §6.1).
    func accessToken(_ grant: Grant, scope: Scope, now: Int64) throws(OAuthFault) -> String {
        let jti = try environment.identifier()
        var claims = JSONWriter(capacity: 512)
        claims.object {
            $0.member("iss", issuer)
            $0.member("sub", grant.subject)
            $0.member("aud", grant.resource ?? defaultAudience)
            $0.member("exp", now + lifetimes.accessToken)
            $0.member("iat", now)
            $0.member("jti", jti)
            $0.member("client_id", grant.clientId)
            $0.member("scope", scope.text)
            $0.member("auth_time", grant.authTime)
            $0.member("grant_id", grant.id)
            $0.name("cnf")
            $0.object { $0.member("jkt", grant.jkt.rawValue) }
        }
        return try signer.sign(claims, type: AccessToken.type)
    }

    /// An ID token (OpenID Connect Core §2).
    ///
    /// - Parameter nonce: of the authorization request; a refreshed ID token has none (§12.2).
    func idToken(
        _ grant: Grant, accessToken: String, nonce: String?, now: Int64
    ) throws(OAuthFault) -> String {
        var claims = JSONWriter(capacity: 512)
        claims.object {
            $0.member("iss", issuer)
            $0.member("sub", grant.subject)
            $0.member("aud", grant.clientId)
            $0.member("exp", now + lifetimes.accessToken)
            $0.member("iat", now)
            $0.member("auth_time", grant.authTime)
            if let nonce { $0.member("nonce", nonce) }
            $0.member("at_hash", Base64URL.encode(SHA256.hash(accessToken.utf8).prefix(16)))
            $0.name("amr")
            $0.array { $0.string("face") }
            if grant.scope.contains("email") { $0.member("email", grant.email) }
        }
        return try signer.sign(claims, type: "JWT")
    }
}
