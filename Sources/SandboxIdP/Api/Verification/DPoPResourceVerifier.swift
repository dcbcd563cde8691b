import JOSE

/// Checks the access token and the proof of a request to an API (RFC 9449 §7, R-000-80 to R-000-82). It knows nothing of
/// the provider but its issuer and its keys.
struct DPoPResourceVerifier: Sendable {
    /// The only `iss` that is accepted.
    let issuer: String
    /// This API, as tokens name it in `aud`.
    let audience: String
    /// The issuer's keys that a key id can mean.
    let keys: @Sendable (_ kid: String?, _ algorithm: JWSAlgorithm) async -> [PublicJWK]
    /// Whether a proof's nonce is good now; `nil` switches nonces off.
    let acceptsNonce: (@Sendable (_ nonce: String, _ now: Int64) -> Bool)?
    /// Remembers a proof until the time given; whether it was not used before.
    let spendProof: @Sendable (_ replayKey: String, _ until: Int64, _ now: Int64) -> Bool
    /// Whether the token was revoked; APIs that cannot ask say `false`.
    let isRevoked: @Sendable (AccessToken) -> Bool

    private let proofs = DPoPVerifier()

    init(
        issuer: String, audience: String,
        keys: @escaping @Sendable (String?, JWSAlgorithm) async -> [PublicJWK],
        acceptsNonce: (@Sendable (String, Int64) -> Bool)?,
        spendProof: @escaping @Sendable (String, Int64, Int64) -> Bool,
        isRevoked: @escaping @Sendable (AccessToken) -> Bool
    ) {
        self.issuer = issuer
        self.audience = audience
        self.keys = keys
        self.acceptsNonce = acceptsNonce
        self.spendProof = spendProof
        self.isRevoked = isRevoked
    }

    /// The token of a request that may be served.
    ///
    /// - Parameters:
    ///   - requiredScope: a scope the token must have, when the API wants one.
    ///   - now: seconds since 1970 UTC.
    func verify(
        _ request: ResourceRequest, requiredScope: String? = nil, now: Int64
    ) async throws(ResourceRefusal) -> (token: AccessToken, proof: VerifiedDPoPProof) {
        let text = try request.accessToken()
        let token = try await verifiedToken(text, now)
        let proof = try verifiedProof(request, text, now)
        guard proof.jkt == token.jkt else { throw .invalidToken(.anotherKey) }
        guard
            spendProof(
                Base64URL.encode(proof.replayHash), proof.iat + proofs.maximumAge + 1, now)
        else { throw .invalidProof(nil) }
        guard !isRevoked(token) else { throw .invalidToken(.revoked) }
        if let requiredScope, !token.scopes.contains(requiredScope) {
            throw .insufficientScope(requiredScope)
        }
        return (token, proof)
    }

    private func verifiedToken(
        _ text: String, _ now: Int64
    ) async throws(ResourceRefusal) -> AccessToken {
        let jws: CompactJWS
        let claims: JSONValue
        do {
            jws = try CompactJWS(parsing: text.utf8)
            try jws.refuseEmbeddedKeys()
            claims = try jws.claims()
        } catch { throw .invalidToken(.malformed(error)) }
        guard jws.hasType(AccessToken.type) else { throw .invalidToken(.type) }
        let candidates = await keys(jws.kid, jws.algorithm)
        let isSigned = candidates.contains { jwk in
            guard let key = try? PublicKey(jwk) else { return false }
            return jws.isSigned(by: key)
        }
        guard isSigned else { throw .invalidToken(.signature) }
        do {
            return try AccessToken(
                claims, issuer: issuer, audience: audience, now: now,
                maximumAhead: proofs.maximumAhead)
        } catch { throw .invalidToken(error) }
    }

    private func verifiedProof(
        _ request: ResourceRequest, _ token: String, _ now: Int64
    ) throws(ResourceRefusal) -> VerifiedDPoPProof {
        guard let text = request.proofs.first, request.proofs.count == 1 else {
            throw .invalidProof(nil)
        }
        do {
            return try proofs.verify(
                text, method: request.method, uri: request.uri, now: now, accessToken: token
            ) { nonce in
                guard let acceptsNonce else { return true }
                return nonce.map { acceptsNonce($0, now) } ?? false
            }
        } catch .useNonce {
            throw .useNonce
        } catch {
            throw .invalidProof(error)
        }
    }
}
