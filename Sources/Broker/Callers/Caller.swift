import AssertionMint
import JOSE

/// Who asks, as far as it was proven.
struct Caller: Sendable {
    /// The token, when one was shown and it is good.
    let token: APIToken?
    /// The proof, when one was shown and it is good; its `jti` is not yet known to be unused.
    let proof: VerifiedDPoPProof?

    private var parts: Set<Gate.Part> {
        var parts: Set<Gate.Part> = []
        if token != nil { parts.insert(.backendToken) }
        if proof != nil { parts.insert(.dpop) }
        return parts
    }

    /// The client, when this caller passes one of its gates.
    ///
    /// A proof by a key that anyone can make says nothing about who asks, so without a good token an unknown client, and one
    /// that does not take proofs alone, get the same 401: nobody learns which clients exist.
    func client(_ id: ClientId, in directory: Directory) throws(BrokerError) -> (
        RegisteredClient, Gate
    ) {
        guard let client = directory.clients[id] else {
            throw token == nil ? .callerUnauthenticated(.noGate) : .unknownClient
        }
        if let token, token.tenant != client.tenant { throw .callerNotAllowed }
        guard let gate = client.settings.gates.first(where: { $0.parts.isSubset(of: parts) }) else {
            throw token == nil ? .callerUnauthenticated(.noGate) : .callerNotAllowed
        }
        return (client, gate)
    }
}
