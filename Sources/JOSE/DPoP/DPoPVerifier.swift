/// Checks DPoP proofs as a server does (RFC 9449 §4.3), all but two things: that the `jti` was not used before, which
/// needs a memory, and that the key is the one a token is bound to, which needs the token.
public struct DPoPVerifier: Sendable {
    /// Seconds a proof may be old.
    public let maximumAge: Int64
    /// Seconds a proof may lie in the future; 10 must be accepted, 60 must not be passed (FAPI 2.0 §5.3.2.1).
    public let maximumAhead: Int64

    /// The longest `jti` that is looked at, in octets.
    public static let maximumJtiLength = 128

    /// A verifier with this window around the server's clock.
    public init(maximumAge: Int64 = 60, maximumAhead: Int64 = 10) {
        self.maximumAge = maximumAge
        self.maximumAhead = min(maximumAhead, 60)
    }

    /// The claims of a good proof: `examine`, and then the signature.
    ///
    /// - Parameters:
    ///   - proof: the one `DPoP` field's value.
    ///   - method: the request's method, compared with letter case.
    ///   - uri: the request's public URI.
    ///   - now: seconds since 1970 UTC.
    ///   - accessToken: the token the request carries, when it carries one; then `ath` must be its hash.
    ///   - acceptsNonce: whether this `nonce` is good now; gets `nil` when the proof has none.
    ///   - key: gives the verification key of a JWK, from a cache where there is one.
    public func verify(
        _ proof: String, method: String, uri: HTTPTargetURI, now: Int64, accessToken: String? = nil,
        acceptsNonce: (String?) -> Bool,
        key: (PublicJWK) throws(JWKError) -> PublicKey = { (jwk) throws(JWKError) in
            try PublicKey(jwk)
        }
    ) throws(DPoPError) -> VerifiedDPoPProof {
        let examined = try examine(
            proof, method: method, uri: uri, now: now, accessToken: accessToken,
            acceptsNonce: acceptsNonce)
        let verifier: PublicKey
        do { verifier = try key(examined.key) } catch { throw .key(error) }
        return try examined.verified(by: verifier)
    }

    /// Every check but that of the signature, the dear part, so that a server can decide whether it wants to pay for that.
    ///
    /// The parameters are those of `verify`.
    public func examine(
        _ proof: String, method: String, uri: HTTPTargetURI, now: Int64, accessToken: String? = nil,
        acceptsNonce: (String?) -> Bool
    ) throws(DPoPError) -> ExaminedDPoPProof {
        let jws: CompactJWS
        let claims: JSONValue
        do {
            jws = try CompactJWS(parsing: proof.utf8)
            claims = try jws.claims()
        } catch { throw .malformed(error) }
        guard jws.type == DPoPProof.type else { throw .type }
        let jwk = try Self.embeddedKey(jws)
        let checked = try check(
            claims, method: method, uri: uri, now: now, accessToken: accessToken)
        let nonce = try Self.text(claims, "nonce", required: false)
        guard acceptsNonce(nonce) else { throw .useNonce }
        return ExaminedDPoPProof(
            key: jwk, jws: jws, jti: checked.jti, htu: uri.normalized, iat: checked.iat,
            nonce: nonce)
    }

    private func check(
        _ claims: JSONValue, method: String, uri: HTTPTargetURI, now: Int64, accessToken: String?
    ) throws(DPoPError) -> (jti: String, iat: Int64) {
        guard let jti = try Self.text(claims, "jti"), !jti.isEmpty,
            jti.utf8.count <= Self.maximumJtiLength
        else { throw .claim("jti") }
        guard try Self.text(claims, "htm")?.hasSameOctets(as: method) == true else { throw .method }
        guard let htu = try Self.text(claims, "htu"), Self.names(htu, uri) else { throw .uri }
        guard let iat = claims["iat"]?.numericDate else { throw .claim("iat") }
        guard iat >= Double(now - maximumAge), iat <= Double(now + maximumAhead) else {
            throw .time
        }
        if let accessToken {
            guard let ath = try Self.text(claims, "ath"),
                constantTimeEquals(
                    Array(ath.utf8), Array(DPoPProof.accessTokenHash(accessToken).utf8))
            else { throw .accessTokenHash }
        }
        return (jti, Int64(iat))
    }

    /// Whether `htu` is the same URI. Most clients write it as it is known here; only other spellings are worth taking apart, which
    /// costs a quarter of a signature check.
    private static func names(_ htu: String, _ uri: HTTPTargetURI) -> Bool {
        htu.hasSameOctets(as: uri.htu) || HTTPTargetURI(htu)?.normalized == uri.normalized
    }

    private static func embeddedKey(_ jws: CompactJWS) throws(DPoPError) -> PublicJWK {
        for name in ["jku", "x5u", "x5c"] where jws.header[name] != nil {
            throw .malformed(.headerMember(name))
        }
        guard let member = jws.header["jwk"] else { throw .malformed(.headerMember("jwk")) }
        let jwk: PublicJWK
        do { jwk = try PublicJWK(member) } catch { throw .key(error) }
        guard jwk.algorithm == jws.algorithm else { throw .malformed(.algorithm) }
        return jwk
    }

    private static func text(
        _ claims: JSONValue, _ name: String, required: Bool = true
    ) throws(DPoPError) -> String? {
        guard let value = claims[name] else {
            if required { throw .claim(name) }
            return nil
        }
        guard let text = value.string else { throw .claim(name) }
        return text
    }
}

/// A proof that is good but for its signature, which nobody has checked yet: nothing it says may be believed.
public struct ExaminedDPoPProof: Sendable {
    /// The key that the proof says it was made by.
    public let key: PublicJWK
    let jws: CompactJWS
    let jti: String
    let htu: String
    let iat: Int64
    let nonce: String?

    /// The proof, when `key`, which must be made of `self.key`, made its signature.
    ///
    /// - Throws: `DPoPError.signature`.
    public func verified(by key: PublicKey) throws(DPoPError) -> VerifiedDPoPProof {
        guard jws.isSigned(by: key) else { throw .signature }
        return VerifiedDPoPProof(
            jkt: DpopJkt(of: self.key), key: self.key, jti: jti, htu: htu, iat: iat, nonce: nonce)
    }
}

/// What a good proof says.
public struct VerifiedDPoPProof: Sendable {
    /// The thumbprint of the key that made the proof.
    public let jkt: DpopJkt
    /// That key.
    public let key: PublicJWK
    /// The proof's id, not yet known to be unused.
    public let jti: String
    /// The normalised URI the proof is for.
    public let htu: String
    /// When it was made, seconds since 1970 UTC, rounded down.
    public let iat: Int64
    /// The nonce it carries.
    public let nonce: String?

    /// What a replay memory keeps of the proof: SHA-256 over key, target URI and `jti` (RFC 9449 §11.1), 32 octets.
    public var replayHash: [UInt8] {
        SHA256.hash("\(jkt.rawValue) \(htu) \(jti)".utf8)
    }
}

/// Which of the checks of RFC 9449 §4.3 a proof failed.
public enum DPoPError: Error, Equatable, Sendable {
    /// Not a well-formed JWS of an accepted algorithm.
    case malformed(JWSError)
    /// `typ` is not `dpop+jwt`.
    case type
    /// The header's key is missing, private, or none that is accepted.
    case key(JWKError)
    /// A claim that is missing or of the wrong form.
    case claim(String)
    /// `htm` is another method.
    case method
    /// `htu` is another URI.
    case uri
    /// `iat` lies outside the window.
    case time
    /// `ath` is missing or belongs to another token.
    case accessTokenHash
    /// The nonce is missing, unknown or too old: answer with a new one.
    case useNonce
    /// The signature is not by the key in the header.
    case signature
}
