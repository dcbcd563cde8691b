import JOSE

/// Checks the access token and the proof of each request to an API (RFC 9449 §7, R-000-80 to R-000-82). It knows nothing of
/// the provider but its issuer identifier and its keys, and nothing of the server it runs in.
public struct DPoPResourceVerifier: Sendable {
    private let configuration: DPoPResourceConfiguration
    private let keys: any IssuerKeySource
    private let proofMemory: any ProofMemory
    private let nonces: DPoPNonces?
    private let isRevoked: @Sendable (AccessToken) async -> Bool
    private let proofs: DPoPVerifier

    /// - Parameters:
    ///   - keys: the issuer's keys; `IssuerJWKS` fetches and keeps them.
    ///   - proofMemory: shared by all nodes that serve the API, or a proof works once at each of them.
    ///   - nonces: `nil` lets proofs go without; then a stolen device can make proofs ahead of time (RFC 9449 §11.2).
    ///   - isRevoked: asked last, for a token that is good otherwise.
    public init(
        _ configuration: DPoPResourceConfiguration, keys: any IssuerKeySource,
        proofMemory: any ProofMemory = BoundedProofMemory(), nonces: DPoPNonces?,
        isRevoked: @escaping @Sendable (AccessToken) async -> Bool = { _ in false }
    ) {
        self.configuration = configuration
        self.keys = keys
        self.proofMemory = proofMemory
        self.nonces = nonces
        self.isRevoked = isRevoked
        proofs = DPoPVerifier(
            maximumAge: configuration.maximumProofAge, maximumAhead: configuration.maximumAhead)
    }

    /// The token of a request that may be served. Cheap checks come first, signatures of keys that nobody vouches for never.
    ///
    /// - Parameters:
    ///   - requiredScope: a scope token that the access token must have, when the call wants one.
    ///   - now: seconds since 1970 UTC.
    public func verify(
        _ request: ResourceRequest, requiredScope: String? = nil, now: Int64
    ) async throws(ResourceRefusal) -> GrantedAccess {
        let text = try request.accessToken()
        let token = try await verifiedToken(text, now)
        let proof = try verifiedProof(request, text, token, now)
        try await spend(proof, now)
        guard !(await isRevoked(token)) else { throw .invalidToken(.revoked) }
        if let requiredScope, !token.scopes.contains(requiredScope) {
            throw .insufficientScope(requiredScope)
        }
        // A nonce that will soon be too old is replaced before it causes a refusal (RFC 9449 §8.2).
        let newest = nonces?.current(now)
        return GrantedAccess(token: token, newNonce: newest == proof.nonce ? nil : newest)
    }

    /// What to answer a request that is refused.
    ///
    /// - Parameter now: seconds since 1970 UTC.
    public func answer(to refusal: ResourceRefusal, now: Int64) -> RefusalAnswer {
        RefusalAnswer(
            refusal, nonce: refusal == .useNonce ? nonces?.current(now) : nil)
    }

    private func verifiedToken(
        _ text: String, _ now: Int64
    ) async throws(ResourceRefusal) -> AccessToken {
        let jws: CompactJWS
        let token: AccessToken
        do throws(TokenFault) {
            (jws, token) = try unverifiedToken(text, now)
        } catch { throw .invalidToken(error) }
        let known: JWKSet
        do { known = try await keys.keySet(containing: jws.kid, now: now) } catch {
            throw .unavailable(.keys(error))
        }
        let isSigned = known.candidates(kid: jws.kid, algorithm: jws.algorithm).contains { jwk in
            guard let key = try? PublicKey(jwk) else { return false }
            return jws.isSigned(by: key)
        }
        guard isSigned else { throw .invalidToken(.signature) }
        return token
    }

    /// A token of the right kind, issuer, audience and time, whoever made it: for any other, no key is looked for.
    private func unverifiedToken(
        _ text: String, _ now: Int64
    ) throws(TokenFault) -> (CompactJWS, AccessToken) {
        let jws: CompactJWS
        let claims: JSONValue
        do throws(JWSError) {
            jws = try CompactJWS(parsing: text.utf8)
            try jws.refuseEmbeddedKeys()
            claims = try jws.claims()
        } catch { throw .malformed(error) }
        guard jws.hasType(AccessToken.type) else { throw .type }
        return (jws, try AccessToken(claims, configuration, now: now))
    }

    private func verifiedProof(
        _ request: ResourceRequest, _ text: String, _ token: AccessToken, _ now: Int64
    ) throws(ResourceRefusal) -> VerifiedDPoPProof {
        guard let proof = request.proofs.first, request.proofs.count == 1 else {
            throw .invalidProof(request.proofs.isEmpty ? .missing : .several)
        }
        let examined: ExaminedDPoPProof
        do {
            examined = try proofs.examine(
                proof, method: request.method, uri: request.uri, now: now, accessToken: text
            ) { nonce in
                guard let nonces else { return true }
                return nonce.map { nonces.accepts($0, now) } ?? false
            }
        } catch { throw ResourceRefusal(error) }
        // Before the signature: the key of a stranger, however long, is not worth a check.
        guard DpopJkt(of: examined.key) == token.jkt else { throw .invalidToken(.anotherKey) }
        do throws(DPoPError) {
            let key: PublicKey
            do { key = try PublicKey(examined.key) } catch { throw .key(error) }
            return try examined.verified(by: key)
        } catch { throw ResourceRefusal(error) }
    }

    private func spend(_ proof: VerifiedDPoPProof, _ now: Int64) async throws(ResourceRefusal) {
        let isFirstUse: Bool
        do {
            // One second more, since `iat` was rounded down.
            isFirstUse = try await proofMemory.spend(
                proof.replayHash, until: proof.iat + configuration.maximumProofAge + 1, now: now)
        } catch { throw .unavailable(.proofMemory) }
        guard isFirstUse else { throw .invalidProof(.used) }
    }
}

/// What a request that may be served brings along.
public struct GrantedAccess: Sendable {
    /// The token, bound to the key that made the request's proof.
    public let token: AccessToken
    /// For `DPoP-Nonce` of the answer: the proof carried an older one, or none.
    public let newNonce: String?
}
