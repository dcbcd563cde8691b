public import JOSE

/// What a good access token says (RFC 9068 §2.2, RFC 9449 §6.1).
public struct AccessToken: Sendable {
    /// The `typ` of an access token, with or without `application/` before it.
    public static let type = "at+jwt"

    /// Whom the token speaks for (`sub`).
    public let subject: String
    /// The client it was issued to (`client_id`).
    public let clientId: String
    /// Scope tokens in the order of the claim; empty without one.
    public let scopes: [String]
    /// The key it is bound to (`cnf.jkt`).
    public let jkt: DpopJkt
    /// Seconds since 1970 UTC, rounded down.
    public let expiresAt: Int64
    /// All claims, for what the API wants to know beyond these.
    public let claims: JSONValue

    /// Reads the claims; whoever calls it makes sure of the signature.
    init(
        _ claims: JSONValue, _ configuration: DPoPResourceConfiguration, now: Int64
    ) throws(TokenFault) {
        guard let issuer = claims["iss"]?.string,
            issuer.utf8.elementsEqual(configuration.issuer.utf8)
        else { throw .claim("iss") }
        guard
            Self.audiences(claims).contains(where: {
                $0.utf8.elementsEqual(configuration.audience.utf8)
            })
        else { throw .claim("aud") }
        guard let expiry = claims["exp"]?.numericDate else { throw .claim("exp") }
        guard expiry + Double(configuration.expiryLeeway) > Double(now) else { throw .expired }
        for name in ["iat", "nbf"] {
            guard let value = claims[name] else { continue }
            guard let date = value.numericDate,
                date <= Double(now + configuration.maximumAhead)
            else { throw .claim(name) }
        }
        guard let subject = claims["sub"]?.string, !subject.isEmpty else { throw .claim("sub") }
        guard let clientId = claims["client_id"]?.string, !clientId.isEmpty else {
            throw .claim("client_id")
        }
        guard let jkt = claims["cnf"]?["jkt"]?.string.flatMap(DpopJkt.init) else {
            throw .claim("cnf")
        }
        self.subject = subject
        self.clientId = clientId
        scopes = try Self.scopes(claims)
        self.jkt = jkt
        expiresAt = Int64(expiry)
        self.claims = claims
    }

    /// A string or an array of strings (RFC 7519 §4.1.3); an array that holds anything else names nobody.
    private static func audiences(_ claims: JSONValue) -> [String] {
        if let one = claims["aud"]?.string { return [one] }
        guard let list = claims["aud"]?.array else { return [] }
        let names = list.compactMap(\.string)
        return names.count == list.count ? names : []
    }

    private static func scopes(_ claims: JSONValue) throws(TokenFault) -> [String] {
        guard let claim = claims["scope"] else { return [] }
        guard let text = claim.string else { throw .claim("scope") }
        return text.split(separator: " ").map(String.init)
    }
}

/// Why an access token is refused. For the API's own log: callers are told `invalid_token` and no more.
public enum TokenFault: Error, Equatable, Sendable {
    /// Not a well-formed JWS of an accepted algorithm.
    case malformed(JWSError)
    /// `typ` is not `at+jwt`: another kind of token of the same issuer.
    case type
    /// Signed by none of the issuer's keys.
    case signature
    /// A claim that is missing, of the wrong form or of another value than it must have.
    case claim(String)
    /// Past its `exp`.
    case expired
    /// Sent under the `Bearer` scheme (R-000-81).
    case bearer
    /// Bound to another key than the proof's.
    case anotherKey
    /// Good in itself, but the API says it was revoked.
    case revoked
}
