import JOSE
import SocketServer

/// Turns credentials into a caller. Pure but for the bounded cache of parsed public keys.
struct Authenticator: Sendable {
    /// The public URI of the mint call, which a proof's `htu` must name; never taken from `Host`.
    let uri: HTTPTargetURI
    let verifier: DPoPVerifier
    let keys: PublicKeyCache

    /// - Parameter now: seconds since 1970 UTC.
    func caller(
        _ credentials: Credentials, method: String, directory: Directory, now: Int64
    ) throws(BrokerError) -> Caller {
        let token = try credentials.token.map { (secret) throws(BrokerError) in
            try self.token(secret.expose(), directory: directory, now: now)
        }
        let proof = try credentials.proof.map { (secret) throws(BrokerError) in
            try self.proof(secret.expose(), method: method, directory: directory, now: now)
        }
        return Caller(token: token, proof: proof)
    }

    private func token(_ text: String, directory: Directory, now: Int64) throws(BrokerError)
        -> APIToken
    {
        guard let token = directory.token(digest: SHA256.hash(text.utf8)) else {
            throw .callerUnauthenticated(.unknownToken)
        }
        guard !token.isRevoked else { throw .callerUnauthenticated(.revokedToken) }
        guard token.expiresAt > now else { throw .callerUnauthenticated(.expiredToken) }
        guard token.scopes.contains(.mint) else { throw .callerUnauthenticated(.missingScope) }
        return token
    }

    private func proof(
        _ text: String, method: String, directory: Directory, now: Int64
    ) throws(BrokerError) -> VerifiedDPoPProof {
        do {
            return try verifier.verify(
                text, method: method, uri: uri, now: now,
                acceptsNonce: { directory.nonces.accepts($0, now: now) },
                key: { (jwk) throws(JWKError) in try keys.key(for: jwk) })
        } catch .useNonce {
            throw .useDpopNonce
        } catch {
            throw .invalidDpopProof(error)
        }
    }
}
