import AssertionMint
import JOSE
import SocketServer

/// Who asks, as far as it was proven.
struct Caller: Sendable {
    /// The token, when one was shown and it is good.
    let token: APIToken?
    /// The proof, when one was shown and it is good; its `jti` is not yet known to be unused.
    let proof: VerifiedDPoPProof?
    /// The certificate, when one was shown and our authorities stand for it; whose it is only a client can say.
    let certificate: ClientCertificate?

    /// Whether the caller can show this part of one of the client's gates.
    private func has(_ part: Gate.Part, for client: RegisteredClient) -> Bool {
        switch part {
        case .backendToken: token != nil
        case .mtls: certificate.map(client.settings.names) ?? false
        case .dpop: proof != nil
        }
    }

    /// The client, when this caller passes one of its gates.
    ///
    /// A proof by a key that anyone can make says nothing about who asks, and a certificate says nothing to a client that does
    /// not name it. So without a good token an unknown client, one that does not name the certificate, and one that does not
    /// take proofs alone get the same 401: nobody learns which other clients exist.
    func client(_ id: ClientId, in directory: Directory) throws(BrokerError) -> (
        RegisteredClient, Gate
    ) {
        guard let client = directory.clients[id] else {
            throw token == nil ? .callerUnauthenticated(.noGate) : .unknownClient
        }
        if let token, token.tenant != client.tenant { throw .callerNotAllowed }
        let passed = client.settings.gates.first { gate in
            gate.parts.allSatisfy { has($0, for: client) }
        }
        guard let gate = passed else {
            let isKnownHere = token != nil || has(.mtls, for: client)
            throw isKnownHere ? .callerNotAllowed : .callerUnauthenticated(.noGate)
        }
        return (client, gate)
    }
}
