import JOSE

/// What a good access token says (RFC 9068 §2.2, RFC 9449 §6.1).
struct AccessToken: Sendable, Equatable {
    static let type = "at+jwt"

    let subject: String
    let clientId: String
    /// Scope tokens in the order of the claim.
    let scopes: [String]
    /// The key it is bound to.
    let jkt: DpopJkt
    /// Seconds since 1970 UTC, rounded down.
    let expiresAt: Int64
    /// The grant behind it, when the issuer names one.
    let grantId: String?

    /// Reads the claims of a token whose signature is already known to be good.
    ///
    /// - Parameters:
    ///   - now: seconds since 1970 UTC.
    ///   - maximumAhead: seconds the issuer's clock may be ahead.
    init(
        _ claims: JSONValue, issuer: String, audience: String, now: Int64, maximumAhead: Int64
    ) throws(TokenFault) {
        guard let claimed = claims["iss"]?.string, claimed.utf8.elementsEqual(issuer.utf8) else {
            throw .claim("iss")
        }
        guard Self.audiences(claims).contains(audience) else { throw .claim("aud") }
        guard let expiry = claims["exp"]?.numericDate else { throw .claim("exp") }
        guard expiry > Double(now) else { throw .expired }
        for name in ["iat", "nbf"] {
            guard let value = claims[name] else { continue }
            guard let date = value.numericDate, date <= Double(now + maximumAhead) else {
                throw .claim(name)
            }
        }
        guard let subject = claims["sub"]?.string, !subject.isEmpty else { throw .claim("sub") }
        guard let clientId = claims["client_id"]?.string else { throw .claim("client_id") }
        guard let jkt = claims["cnf"]?["jkt"]?.string.flatMap(DpopJkt.init) else {
            throw .claim("cnf")
        }
        self.subject = subject
        self.clientId = clientId
        scopes = claims["scope"]?.string?.split(separator: " ").map(String.init) ?? []
        self.jkt = jkt
        expiresAt = Int64(expiry)
        grantId = claims["grant_id"]?.string
    }

    private static func audiences(_ claims: JSONValue) -> [String] {
        if let one = claims["aud"]?.string { return [one] }
        return claims["aud"]?.array?.compactMap(\.string) ?? []
    }
}

/// Why an access token is refused.
enum TokenFault: Error, Equatable, Sendable {
    case malformed(JWSError)
    case type
    case signature
    case claim(String)
    case expired
    /// Sent under the `Bearer` scheme.
    case bearer
    /// Bound to another key than the proof's.
    case anotherKey
    case revoked
}
