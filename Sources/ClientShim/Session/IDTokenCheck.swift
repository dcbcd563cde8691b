import JOSE

/// The checks of an ID token that came straight from the token endpoint (R-000-30, R-000-31; OpenID
/// Connect Core §3.1.3.7). The signature is not among them.
struct IDTokenCheck: Sendable {
    let issuer: String
    let clientId: String
    /// The nonce sent, `nil` for a refresh, which needs none (R-000-56).
    let nonce: Secret<String>?
    /// The subject of the session being refreshed.
    let subject: String?
    /// Seconds since 1970 UTC by the provider's clock.
    let now: Int64

    static let toleratedSecondsAhead: Int64 = 60

    /// The rule a token broke.
    enum Fault: Error, Equatable {
        case malformed, algorithm, issuer, audience, authorizedParty, nonce, expired, issuedAt
        case accessTokenHash, subject
    }

    /// The token's claims, when all holds.
    func claims(
        of idToken: Secret<String>, accessToken: Secret<String>
    ) throws(Fault) -> JSONValue {
        guard let jwt = UnverifiedJWT(idToken.expose()) else { throw .malformed }
        let claims = jwt.claims
        guard let alg = jwt.header["alg"]?.string, !alg.isEmpty, alg.lowercased() != "none",
            !alg.uppercased().hasPrefix("HS")
        else { throw .algorithm }
        guard claims["iss"]?.string == issuer else { throw .issuer }
        try checkAudience(claims)
        if let nonce {
            guard let sent = claims["nonce"]?.string,
                constantTimeEquals(Array(sent.utf8), Array(nonce.expose().utf8))
            else { throw .nonce }
        }
        guard let exp = claims["exp"]?.numericDate, exp > Double(now) else { throw .expired }
        guard let iat = claims["iat"]?.numericDate,
            iat <= Double(now + Self.toleratedSecondsAhead)
        else { throw .issuedAt }
        try checkAccessTokenHash(claims, accessToken)
        guard let sub = claims["sub"]?.string, !sub.isEmpty, sub.utf8.count <= 255,
            subject == nil || subject == sub
        else { throw .subject }
        return claims
    }

    private func checkAudience(_ claims: JSONValue) throws(Fault) {
        let audiences: [String]
        if let one = claims["aud"]?.string {
            audiences = [one]
        } else if let several = claims["aud"]?.array {
            audiences = several.compactMap(\.string)
            guard audiences.count == several.count else { throw .audience }
        } else {
            throw .audience
        }
        guard audiences.contains(clientId) else { throw .audience }
        let azp = claims["azp"]
        guard azp != nil || audiences.count == 1 else { throw .authorizedParty }
        guard azp == nil || azp?.string == clientId else { throw .authorizedParty }
    }

    /// `at_hash`, when it is there, for the SHA-256 algorithms: the left half of the token's hash.
    private func checkAccessTokenHash(
        _ claims: JSONValue, _ accessToken: Secret<String>
    ) throws(Fault) {
        guard let claimed = claims["at_hash"] else { return }
        let half = Base64URL.encode(SHA256.hash(accessToken.expose().utf8).prefix(16))
        guard claimed.string == half else { throw .accessTokenHash }
    }
}
