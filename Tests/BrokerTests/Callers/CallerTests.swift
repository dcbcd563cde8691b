import AssertionMint
import JOSE
import Testing

@testable import Broker

/// Who gets which answer: credential × gate × tenant × whether the client exists.
@Suite struct CallerTests {
    enum Shown: String, CaseIterable, Sendable {
        case token, foreignToken, proof, both, foreignBoth
    }
    enum Outcome: Equatable { case passes(gate: String), refused(BrokerError) }

    static let gates = [
        "[\"dpop\"]", "[\"backend_token\"]", "[\"dpop\",\"backend_token\"]",
        "[[\"backend_token\",\"dpop\"]]",
    ]

    let proof: VerifiedDPoPProof

    init() throws {
        let install = try Install()
        let url = "https://broker.example/v1/assertions"
        proof = try DPoPVerifier().verify(
            install.proof(for: url, iat: 1_700_000_000, nonce: nil), method: "POST",
            uri: try #require(HTTPTargetURI(url)), now: 1_700_000_000, acceptsNonce: { _ in true })
    }

    func outcome(_ shown: Shown, gates: String, client: String = "app") throws -> Outcome {
        let token: APIToken? =
            switch shown {
            case .token, .both: try Sample.token("t")
            case .foreignToken, .foreignBoth: try Sample.token("t", tenant: "rival")
            case .proof: nil
            }
        let hasProof = [.proof, .both, .foreignBoth].contains(shown)
        let caller = Caller(token: token, proof: hasProof ? proof : nil, certificate: nil)
        let directory = try Sample.directory([
            Sample.client(settings: try Sample.settings(gates: gates))
        ])
        do {
            let (_, gate) = try caller.client(try Sample.clientId(client), in: directory)
            return .passes(gate: gate.description)
        } catch let error as BrokerError { return .refused(error) }
    }

    @Test(arguments: Shown.allCases, gates)
    func `a caller passes when all parts of one gate hold, within its own tenant`(
        shown: Shown, gates: String
    ) throws {
        let noGate = BrokerError.callerUnauthenticated(.noGate)
        let expected: Outcome =
            switch (shown, gates) {
            case (.foreignToken, _), (.foreignBoth, _): .refused(.callerNotAllowed)
            case (.token, "[\"dpop\"]"): .refused(.callerNotAllowed)
            case (.token, "[[\"backend_token\",\"dpop\"]]"): .refused(.callerNotAllowed)
            case (.token, _): .passes(gate: "backend_token")
            case (.proof, "[\"backend_token\"]"): .refused(noGate)
            case (.proof, "[[\"backend_token\",\"dpop\"]]"): .refused(noGate)
            case (.proof, _): .passes(gate: "dpop")
            case (.both, "[[\"backend_token\",\"dpop\"]]"): .passes(gate: "backend_token+dpop")
            case (.both, "[\"backend_token\"]"): .passes(gate: "backend_token")
            case (.both, _): .passes(gate: "dpop")
            }
        #expect(try outcome(shown, gates: gates) == expected)
    }

    @Test(arguments: Shown.allCases)
    func `that a client is unknown is told to a caller with a good token only`(shown: Shown) throws
    {
        let expected: BrokerError =
            shown == .proof ? .callerUnauthenticated(.noGate) : .unknownClient
        #expect(try outcome(shown, gates: Self.gates[0], client: "nobody") == .refused(expected))
    }

    @Test func `with a proof alone an unknown client looks like one that takes no proofs`() throws {
        let unknown = try outcome(.proof, gates: Self.gates[1], client: "nobody")
        let known = try outcome(.proof, gates: Self.gates[1])
        #expect(unknown == known)
    }
}
