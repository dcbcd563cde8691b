import AssertionMint
import JOSE

/// What a caller may have: decided by pure rules on the directory, before limits are asked.
struct Grant: Sendable {
    let client: RegisteredClient
    let token: GrantedToken
    let dpopJkt: DpopJkt
    /// What it stands under, overrides included. Those of one install, client or tenant are the same for every kind.
    let limits: MintLimits
    /// The proof whose single use has to be recorded, when there is one.
    let proof: VerifiedDPoPProof?

    /// - Parameter now: decides which overrides of limits have ended.
    init(
        _ request: MintRequest, client: RegisteredClient, caller: Caller, directory: Directory,
        now: MonotonicTime = .now()
    ) throws(BrokerError) {
        if let proof = caller.proof, proof.jkt != request.dpopJkt {
            throw .malformedRequest("dpop_jkt is not the thumbprint of the proof's key")
        }
        guard !directory.isBlocked(request.dpopJkt, client: client.id) else {
            throw .installBlocked
        }
        token = try GrantedToken(request, client: client, caller: caller)
        self.client = client
        dpopJkt = request.dpopJkt
        limits = directory.limits(of: client, jkt: request.dpopJkt, now: now)
        proof = caller.proof
    }

    /// What signs without holding up a lane, where the token's key is in a device. A secret never is.
    var device: KeyDevice? {
        switch token {
        case .clientAssertion, .clientAttestation: client.device
        case .transportToken: nil
        }
    }
}
