import JOSE

/// A client assertion taken apart; nothing in it is trusted before `isSigned` and `check` (RFC 7523 §3).
struct ClientAssertion: Sendable {
    /// What the header says about the key.
    let kid: String?
    /// The signature algorithm.
    let algorithm: JWSAlgorithm
    /// `iss` and `sub`, which are the same.
    let clientId: String
    private let jws: CompactJWS
    private let claims: JSONValue

    /// The types a client assertion may have: that of draft-ietf-oauth-rfc7523bis, the general one, or none. Any other
    /// is a token made for another purpose (RFC 8725 §3.11).
    static let types = ["client-authentication+jwt", "JWT"]
    /// Seconds `exp` may lie ahead; an assertion is made for one request.
    static let maximumLifetime: Int64 = 600

    /// Parses `text` and reads which client it speaks for.
    init(parsing text: String) throws(ClientFault) {
        do {
            jws = try CompactJWS(parsing: text.utf8)
            try jws.refuseEmbeddedKeys()
            claims = try jws.claims()
        } catch { throw .malformedAssertion(error) }
        let jws = jws
        guard jws.type == nil || Self.types.contains(where: { jws.hasType($0) }) else {
            throw .tokenType
        }
        guard let issuer = claims["iss"]?.string, !issuer.isEmpty else { throw .claim("iss") }
        guard claims["sub"]?.string == issuer else { throw .claim("sub") }
        clientId = issuer
        kid = jws.kid
        algorithm = jws.algorithm
    }

    /// Whether one of `keys` made the signature.
    func isSigned(byOneOf keys: [PublicJWK]) -> Bool {
        keys.contains { jwk in
            guard let key = try? PublicKey(jwk) else { return false }
            return jws.isSigned(by: key)
        }
    }

    /// Checks audience and times (FAPI 2.0 §5.3.2.1 items 8 and 13).
    ///
    /// - Parameters:
    ///   - issuer: the only `aud` that is accepted, compared code point by code point.
    ///   - now: seconds since 1970 UTC.
    func check(issuer: String, now: Int64) throws(ClientFault) -> CheckedClientAssertion {
        guard let audience = claims["aud"]?.string, audience.utf8.elementsEqual(issuer.utf8) else {
            throw .audience
        }
        guard let expiry = claims["exp"]?.numericDate else { throw .claim("exp") }
        guard expiry > Double(now) else { throw .expired }
        guard expiry <= Double(now + Self.maximumLifetime) else { throw .tooLongLived }
        for name in ["iat", "nbf"] {
            guard let value = claims[name] else { continue }
            guard let date = value.numericDate else { throw .claim(name) }
            guard date <= Double(now + ClockSkew.acceptedAhead) else { throw .notYetValid }
        }
        guard let jti = claims["jti"]?.string, !jti.isEmpty, jti.utf8.count <= 128 else {
            throw .claim("jti")
        }
        return CheckedClientAssertion(
            clientId: clientId, jti: jti, expiresAt: Int64(expiry.rounded(.up)),
            boundJkt: try boundJkt())
    }

    /// `cnf.jkt`, when the assertion is bound to an install's key (RFC 7800 §3.1).
    private func boundJkt() throws(ClientFault) -> DpopJkt? {
        guard let confirmation = claims["cnf"] else { return nil }
        guard let text = confirmation["jkt"]?.string, let jkt = DpopJkt(text) else {
            throw .claim("cnf")
        }
        return jkt
    }
}

/// What a good assertion says; its `jti` is not yet known to be unused.
struct CheckedClientAssertion: Sendable, Equatable {
    let clientId: String
    let jti: String
    /// Seconds since 1970 UTC, rounded up.
    let expiresAt: Int64
    /// The install key it may be used with, when it names one.
    let boundJkt: DpopJkt?
}

/// How far another clock may be ahead: 10 seconds must be accepted and 60 must not be passed (FAPI 2.0 §5.3.2.1 item 13).
enum ClockSkew {
    static let acceptedAhead: Int64 = 10
}
