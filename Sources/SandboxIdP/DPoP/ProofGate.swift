import DPoPResource
import JOSE
import SocketServer

/// Whether a proof must carry the server's nonce.
enum NonceRule: Sendable, Equatable {
    /// It must.
    case demanded
    /// It may; one that is not good is refused all the same.
    case optional
}

/// Checks the DPoP proof of a request to the authorization server or its portal and spends its `jti` (RFC 9449 §4.3, §5).
struct ProofGate: Sendable {
    let nonces: DPoPNonces
    let state: SharedState
    private let verifier = DPoPVerifier(
        maximumAge: maximumAge, maximumAhead: ClockSkew.acceptedAhead)

    /// Seconds a proof may be old.
    static let maximumAge: Int64 = 60

    init(nonces: DPoPNonces, state: SharedState) {
        self.nonces = nonces
        self.state = state
    }

    /// The one proof of the request.
    ///
    /// - Parameters:
    ///   - uri: the endpoint's public URI, from the configuration and not from `Host`.
    ///   - now: seconds since 1970 UTC.
    func check(
        _ head: HTTPRequestHead, uri: HTTPTargetURI, nonce rule: NonceRule, now: Int64
    ) throws(OAuthFault) -> VerifiedDPoPProof {
        guard let text = head.headers.first("dpop") else { throw .invalidDPoPProof(.missing) }
        guard head.headers.count("dpop") == 1 else { throw .invalidDPoPProof(.several) }
        let proof: VerifiedDPoPProof
        do {
            proof = try verifier.verify(text, method: head.method, uri: uri, now: now) { nonce in
                nonce.map { nonces.accepts($0, now) } ?? (rule == .optional)
            }
        } catch .useNonce {
            throw .useDPoPNonce
        } catch {
            throw .invalidDPoPProof(.rejected(error))
        }
        let isFirstUse = state.change { state in
            state.proofs.spend(proof.replayKey, until: proof.iat + Self.maximumAge + 1, now: now)
        }
        guard isFirstUse else { throw .invalidDPoPProof(.reused) }
        return proof
    }
}

extension VerifiedDPoPProof {
    /// What a replay memory keeps of the proof.
    var replayKey: String { Base64URL.encode(replayHash) }
}
