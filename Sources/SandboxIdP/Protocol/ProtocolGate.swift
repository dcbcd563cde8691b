import JOSE
import SocketServer

/// What every call to the authorization server passes first: form, client authentication, proof.
struct ProtocolGate: Sendable {
    let authenticator: ClientAuthenticator
    let proofs: ProofGate
    let environment: Environment

    /// Whether the endpoint wants a DPoP proof.
    enum ProofRule: Sendable {
        case demanded(NonceRule)
        /// Checked when there is one.
        case optional
    }

    /// Takes a form request apart and proves who sent it.
    ///
    /// - Parameter rule: what kind of proof this form needs.
    func admit(
        _ request: HTTPRequest, uri: HTTPTargetURI, proof rule: (Form) -> ProofRule
    ) async throws(OAuthFault) -> ProtocolRequest {
        guard request.head.query == nil else { throw .invalidRequest(.parametersInQuery) }
        let form: Form
        do { form = try Form(parsing: request.body) } catch { throw .invalidRequest(error) }
        let credential = try ClientCredential(form, request.head.headers)
        let authenticated = try await authenticator.authenticate(credential)
        let now = environment.now()
        let proof = try proof(request.head, uri: uri, rule(form), now)
        if let bound = authenticated.boundJkt, let proof, bound != proof.jkt {
            throw .invalidClient(.boundToAnotherKey)
        }
        return ProtocolRequest(form: form, client: authenticated.client, proof: proof, now: now)
    }

    private func proof(
        _ head: HTTPRequestHead, uri: HTTPTargetURI, _ rule: ProofRule, _ now: Int64
    ) throws(OAuthFault) -> VerifiedDPoPProof? {
        switch rule {
        case .demanded(let nonce): try proofs.check(head, uri: uri, nonce: nonce, now: now)
        case .optional:
            head.headers.count("dpop") == 0
                ? nil : try proofs.check(head, uri: uri, nonce: .optional, now: now)
        }
    }
}

/// A form request of an authenticated client.
struct ProtocolRequest: Sendable {
    let form: Form
    let client: Client
    let proof: VerifiedDPoPProof?
    /// Seconds since 1970 UTC; one instant for the whole decision.
    let now: Int64

    /// The key that made the proof.
    ///
    /// - Throws: `invalid_dpop_proof` when there was none.
    func jkt() throws(OAuthFault) -> DpopJkt {
        guard let proof else { throw .invalidDPoPProof(.missing) }
        return proof.jkt
    }
}
