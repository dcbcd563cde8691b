import FoundationEssentials
import JOSE
import Testing

@testable import ClientShim

/// The diagram of `docs/flows/sign-in.md` against the machine: every transition is tried, none is written down twice.
@Suite struct SignInDiagramTests {
    private let ceremony = Ceremony(sid: "sid", expiresAt: 1, providerExpiresAt: 1)

    /// No `default`: a new case does not compile until the diagram's test knows it.
    private static func name(_ state: SignInState) -> String {
        switch state {
        case .starting: "starting"
        case .downloadingFaceToken: "downloadingFaceToken"
        case .awaitingFaceCapture: "awaitingFaceCapture"
        case .verifyingFace: "verifyingFace"
        case .runningPki: "runningPki"
        case .postingResult: "postingResult"
        case .postingResultFailed: "postingResultFailed"
        case .redeemingCode: "redeemingCode"
        case .signedIn: "signedIn"
        case .cancelled: "cancelled"
        case .failed: "failed"
        }
    }

    private static func name(_ machine: SignInMachine) -> String { name(SignInState(machine)) }

    private let pki = SignInPkiRequest(kind: .publicKeys, context: Data())

    private func faceToken(_ content: FaceTokenAnswer.Content, pki: Bool) -> SignInEvent {
        .faceToken(
            .served(
                FaceTokenAnswer(
                    content: content, branding: nil, pkiAvailable: pki,
                    pkiTenantScopeAllowed: false, providerExpiresAt: nil)))
    }

    /// What may come in answer to a call.
    private func answers(_ session: TokenSession) throws -> [SignInEvent] {
        let busy = Busy(status: 503, retryAfter: nil)
        let refusal = SignInFailure.accessDenied
        let check = IDTokenCheck(issuer: "", clientId: "", nonce: nil, subject: nil, now: 0)
        let grant = try TokenGrant(
            try JSONValue(parsing: Array(#"{"access_token":"a","token_type":"DPoP"}"#.utf8)),
            TokenGrant.Context(
                check: check, scope: "", dpopJkt: "", needsIDToken: false, now: 0))
        let token = OpenedFaceToken(handle: Secret([1]))
        let result = SignInPkiResult(context: Data(), scope: .app, publicKey: Data())
        return [
            .started(.served(ceremony)), .started(.lost(.noAnswer)), .started(.busy(busy)),
            .started(.refused(refusal)), faceToken(.opened(token), pki: true),
            faceToken(.opened(token), pki: false), faceToken(.passwordProtected, pki: true),
            faceToken(.unreadable, pki: true), .faceToken(.lost(.noAnswer)),
            .faceToken(.busy(busy)), .faceToken(.refused(refusal)), .frame(FaceFrame([1])),
            .verdict(.notLive), .verdict(.mismatch), .verdict(.match), .pkiFinished(nil),
            .pkiFinished(result), .proofMade(Secret("proof")), .completed(.served(Secret("code"))),
            .completed(.lost(.noAnswer)), .completed(.busy(busy)), .completed(.refused(refusal)),
            .redeemed(.served(grant)), .redeemed(.lost(.noAnswer)), .redeemed(.busy(busy)),
            .redeemed(.refused(refusal)), .tokensRejected(grant.revocable), .stored(session),
            .retry,
        ]
    }

    /// Every machine that some order of answers leads to, and the transitions between their states.
    private func explored(
        _ events: [SignInEvent]
    ) -> (machines: [SignInMachine], transitions: Set<String>) {
        var machines = [nil, pki].map { SignInMachine(pki: $0, isValid: true) }
        var transitions: Set<String> = []
        var next = 0
        while next < machines.count {
            for event in events {
                var machine = machines[next]
                let before = machine
                _ = machine.handle(event)
                guard machine.state != before.state else { continue }
                transitions.insert("\(Self.name(before)) --> \(Self.name(machine))")
                if !machines.contains(machine) { machines.append(machine) }
            }
            next += 1
        }
        return (machines, transitions)
    }

    @Test func `the diagram draws exactly the transitions of the code`() async throws {
        let session = try await World.signedIn().session
        let (machines, transitions) = explored(try answers(session))
        var drawn = try Diagram.transitions("sign-in.md")
        // These two stand for all states, as the text below the diagram says.
        #expect(drawn.remove("awaitingFaceCapture --> cancelled") != nil)
        #expect(drawn.remove("awaitingFaceCapture --> failed") != nil)
        #expect(drawn == transitions)
        #expect(Set(machines.map(Self.name)).count == 10)
    }

    @Test func `cancel, expiry and a failing device end every state before the tokens are checked`()
        async throws
    {
        let session = try await World.signedIn().session
        for machine in explored(try answers(session)).machines where !machine.isOver {
            let isStoring = if case .storingSession = machine.state { true } else { false }
            let ends: [(SignInEvent, String)] = [(.cancel, "cancelled"), (.expired, "failed")]
            for (event, end) in ends {
                var ended = machine
                _ = ended.handle(event)
                #expect(isStoring ? ended == machine : Self.name(ended) == end)
            }
            var broken = machine
            _ = broken.handle(.deviceFailed(""))
            #expect(Self.name(broken) == "failed")
        }
    }
}
