import AssertionMint
import JOSE

/// What a caller may have: decided by pure rules on the directory, before limits are asked.
struct Grant: Sendable {
    let client: RegisteredClient
    let signer: AssertionSigner
    let audience: Issuer
    let dpopJkt: DpopJkt
    /// What it stands under, overrides included.
    let limits: MintLimits
    /// The proof whose single use has to be recorded, when there is one.
    let proof: VerifiedDPoPProof?

    /// - Parameter now: decides which overrides of limits have ended.
    init(
        _ request: MintRequest, client: RegisteredClient, caller: Caller, directory: Directory,
        now: MonotonicTime = .now()
    ) throws(BrokerError) {
        guard
            let audience = client.settings.issuers.first(where: { $0.rawValue == request.audience })
        else {
            throw .audienceNotAllowed
        }
        if let proof = caller.proof, proof.jkt != request.dpopJkt {
            throw .malformedRequest("dpop_jkt is not the thumbprint of the proof's key")
        }
        guard !directory.isBlocked(request.dpopJkt, client: client.id) else {
            throw .installBlocked
        }
        switch client.signing {
        case .ready(let signer): self.signer = signer
        case .unusable(let reason): throw .unavailable(.key(reason))
        }
        self.client = client
        self.audience = audience
        dpopJkt = request.dpopJkt
        limits = directory.limits(of: client, jkt: request.dpopJkt, now: now)
        proof = caller.proof
    }
}
