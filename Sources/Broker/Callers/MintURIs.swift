import JOSE

/// The public URIs of the calls that mint.
struct MintURIs: Sendable {
    private let clientAssertion: HTTPTargetURI
    private let transportToken: HTTPTargetURI
    private let clientAttestation: HTTPTargetURI

    /// - Parameter origin: such as `https://broker.example`; `nil` when that is none.
    init?(origin: String) {
        func uri(_ kind: TokenKind) -> HTTPTargetURI? {
            HTTPTargetURI(origin + Route.mint(kind).pattern.rawValue)
        }
        guard let clientAssertion = uri(.clientAssertion),
            let transportToken = uri(.transportToken),
            let clientAttestation = uri(.clientAttestation)
        else { return nil }
        self.clientAssertion = clientAssertion
        self.transportToken = transportToken
        self.clientAttestation = clientAttestation
    }

    subscript(kind: TokenKind) -> HTTPTargetURI {
        switch kind {
        case .clientAssertion: clientAssertion
        case .transportToken: transportToken
        case .clientAttestation: clientAttestation
        }
    }
}
