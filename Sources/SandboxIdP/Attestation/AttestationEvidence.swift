import JOSE

/// The sandbox's own form of platform evidence: a compact JWS over the challenge. App Attest and Play Integrity bring others,
/// which take more than one key to check.
struct AttestationEvidence: Sendable {
    static let type = "sandbox-attestation+jwt"
    /// Seconds evidence may be old.
    static let maximumAge: Int64 = 300

    private let jws: CompactJWS
    private let claims: JSONValue

    init(parsing text: String) throws(AttestationFault) {
        do {
            jws = try CompactJWS(parsing: text.utf8)
            try jws.refuseEmbeddedKeys()
            claims = try jws.claims()
        } catch { throw .malformed(error) }
        guard jws.hasType(Self.type) else { throw .type }
        guard jws.algorithm == .ES256 else { throw .algorithm }
    }

    /// - Parameter now: seconds since 1970 UTC.
    func check(by key: PublicKey?, challenge: String?, now: Int64) throws(AttestationFault) {
        guard let key, jws.isSigned(by: key) else { throw .signature }
        guard let challenge, let named = claims["challenge"]?.string,
            constantTimeEquals(Array(named.utf8), Array(challenge.utf8))
        else { throw .challenge }
        guard let issuedAt = claims["iat"]?.integer, issuedAt <= now + ClockSkew.acceptedAhead,
            now - issuedAt <= Self.maximumAge
        else { throw .age }
    }
}
