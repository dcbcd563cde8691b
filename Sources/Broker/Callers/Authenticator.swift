import JOSE
import SocketServer

/// Turns credentials into a caller. Pure but for what it remembers within fixed bounds: keys that proved themselves, and
/// addresses that failed.
struct Authenticator: Sendable {
    /// The public URIs of the calls, one of which a proof's `htu` must name; never taken from `Host`.
    let uris: MintURIs
    let verifier: DPoPVerifier
    let keys: PublicKeyCache
    let failures: FailedAuthentications
    /// Whether the server asks for client certificates at all; if not, no request has one.
    var takesCertificates = false

    /// The longest RSA key of a proof, in octets (4096 bits): a stranger chooses the key, we pay for the check.
    private static let longestModulus = 512

    /// Whether a proof's key may be as long as this one.
    static func takesKey(_ jwk: PublicJWK) -> Bool {
        guard case .rsa(let modulus, _) = jwk.material else { return true }
        return modulus.count <= longestModulus
    }

    /// Who asks, whatever for.
    ///
    /// The cheap credentials come first. A proof costs a signature check, so a stranger's proof is not checked while its
    /// address has failed too often; one that comes with a good token or with a certificate that a client names, or by
    /// a key that proved itself lately, is (docs/adr/0007).
    ///
    /// - Parameters:
    ///   - kind: which call it is: a proof for another one does not count.
    ///   - now: seconds since 1970 UTC.
    func caller(
        _ head: HTTPRequestHead, for kind: TokenKind, directory: Directory, now: Int64
    ) throws(BrokerError) -> Caller {
        let credentials = try Credentials(head)
        let token = try credentials.token.map { (secret) throws(BrokerError) in
            try self.token(secret.expose(), scope: .mint, directory: directory, now: now)
        }
        let isKnown =
            token != nil || credentials.certificate.map(directory.anyClientNames) ?? false
        let proof = try credentials.proof.map { (secret) throws(BrokerError) in
            let examined = try examine(
                secret.expose(), method: head.method, uri: uris[kind], directory: directory,
                now: now)
            return try verify(examined, isVouchedFor: isKnown, remote: head.remote)
        }
        return Caller(token: token, proof: proof, certificate: credentials.certificate)
    }

    /// What to answer to a request that ends in `error`; counts it when it is a failed authentication, or when nothing but a
    /// proof spoke for the caller and was checked in vain: it was not used up, so it could be sent again without end.
    ///
    /// - Parameter caller: as far as the request came.
    func judge(_ error: BrokerError, from remote: RemoteAddress, caller: Caller?) -> BrokerError {
        let wasCheckedInVain =
            caller?.proof != nil && caller?.token == nil && error.refusesForGood
        // Or a key that proved itself once would let its holder have any number of proofs checked in vain.
        if error.isFailedAuthentication || wasCheckedInVain, let key = caller?.proof?.key {
            keys.forget(key)
        }
        return failures.judge(error, from: remote, wasCheckedInVain: wasCheckedInVain)
    }

    /// A good API token for a call that takes nothing else.
    ///
    /// - Parameter now: seconds since 1970 UTC.
    func token(
        _ head: HTTPRequestHead, scope: APIToken.Scope, directory: Directory, now: Int64
    ) throws(BrokerError) -> APIToken {
        let secret = try Credentials.token(head)
        return try token(secret.expose(), scope: scope, directory: directory, now: now)
    }

    private func token(
        _ text: String, scope: APIToken.Scope, directory: Directory, now: Int64
    ) throws(BrokerError) -> APIToken {
        guard let token = directory.token(digest: SHA256.hash(text.utf8)) else {
            throw .callerUnauthenticated(.unknownToken)
        }
        guard !token.isRevoked else { throw .callerUnauthenticated(.revokedToken) }
        guard token.expiresAt > now else { throw .callerUnauthenticated(.expiredToken) }
        // Whose token it is we know, so this is no 401 (RFC 6750 §3.1). Said before any client is looked at.
        guard token.scopes.contains(scope) else { throw .scopeMissing(scope) }
        return token
    }

    /// Everything about a proof but its signature: cheap.
    private func examine(
        _ text: String, method: String, uri: HTTPTargetURI, directory: Directory, now: Int64
    ) throws(BrokerError) -> ExaminedDPoPProof {
        do {
            return try verifier.examine(text, method: method, uri: uri, now: now) {
                directory.nonces.accepts($0, now: now)
            }
        } catch .useNonce {
            throw .useDpopNonce
        } catch {
            throw .invalidDpopProof(error)
        }
    }

    private func verify(
        _ examined: ExaminedDPoPProof, isVouchedFor: Bool, remote: RemoteAddress
    ) throws(BrokerError) -> VerifiedDPoPProof {
        guard Self.takesKey(examined.key) else {
            throw .invalidDpopProof(.key(.unacceptableRSA))
        }
        let known = keys.known(examined.key)
        if known == nil, !isVouchedFor {
            let wait = failures.wait(for: remote)
            guard wait == 0 else {
                throw .tooManyFailures(
                    failures.policy, waitMicroseconds: wait, cause: "the proof was not checked")
            }
        }
        do throws(DPoPError) {
            let key = if let known { known } else { try Self.parse(examined.key) }
            let proof = try examined.verified(by: key)
            keys.keep(key, for: examined.key)
            return proof
        } catch {
            keys.forget(examined.key)
            throw .invalidDpopProof(error)
        }
    }

    private static func parse(_ jwk: PublicJWK) throws(DPoPError) -> PublicKey {
        do { return try PublicKey(jwk) } catch { throw .key(error) }
    }
}
