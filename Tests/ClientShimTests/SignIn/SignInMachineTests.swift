import FoundationEssentials
import JOSE
import Testing

@testable import ClientShim

/// Flows §3.6 and §3.7, one transition at a time.
@Suite struct SignInMachineTests {
    let ceremony = Ceremony(sid: "sid", expiresAt: 100, providerExpiresAt: 100)
    let token = OpenedFaceToken(handle: Secret([1]))
    let proof = Secret("proof")
    let code = Secret("code")

    private func machine(pki: SignInPkiRequest? = nil, _ events: SignInEvent...) -> SignInMachine {
        var machine = SignInMachine(pki: pki, isValid: true)
        for event in events { _ = machine.handle(event) }
        return machine
    }

    private func answer(
        _ content: FaceTokenAnswer.Content? = nil, pki: Bool = false, tenant: Bool = false
    ) -> SignInEvent {
        .faceToken(
            .served(
                FaceTokenAnswer(
                    content: content ?? .opened(token), branding: nil, pkiAvailable: pki,
                    pkiTenantScopeAllowed: tenant, providerExpiresAt: nil)))
    }

    private var started: SignInEvent { .started(.served(ceremony)) }
    private var lostCompletion: SignInEvent { .completed(.lost(.noAnswer)) }
    private var lostToken: SignInEvent { .redeemed(.lost(.noAnswer)) }
    private var gotCode: SignInEvent { .completed(.served(code)) }
    private func frame() -> SignInEvent { .frame(FaceFrame([1])) }

    private func posting(_ events: SignInEvent...) -> SignInMachine {
        var machine = machine(started, answer(), frame(), .verdict(.match), .proofMade(proof))
        for event in events { _ = machine.handle(event) }
        return machine
    }

    private var grant: TokenGrant {
        get throws {
            let json = try JSONValue(
                parsing: Array(
                    #"{"access_token":"a","token_type":"DPoP","refresh_token":"r"}"#.utf8))
            let check = IDTokenCheck(
                issuer: "i", clientId: "c", nonce: nil, subject: nil, now: 0)
            return try TokenGrant(
                json,
                TokenGrant.Context(
                    check: check, scope: "offline_access", dpopJkt: "j", needsIDToken: false,
                    now: 0))
        }
    }

    private func parked(_ machine: SignInMachine) -> PostFailure? {
        if case .postingResultFailed(_, let reason, _) = machine.state { reason } else { nil }
    }

    // MARK: - Start

    @Test func `R-000-02 a bad config ends at once and wants nothing done`() {
        let machine = SignInMachine(pki: nil, isValid: false)
        #expect(machine.state == .failed(.invalidConfiguration))
        #expect(machine.firstEffects.isEmpty)
    }

    @Test func `R-000-01 a good config starts by itself`() {
        #expect(SignInMachine(pki: nil, isValid: true).firstEffects == [.start])
    }

    @Test(arguments: [PostFailure.noAnswer, .assertionUnavailable])
    func `R-000-20 R-101-05 a lost start is sent once more, then the flow ends`(
        _ loss: PostFailure
    ) {
        var machine = machine()
        #expect(machine.handle(.started(.lost(loss))) == [.start])
        #expect(machine.handle(.started(.lost(loss))).isEmpty)
        #expect(machine.state == .failed(.network))
    }

    @Test func `a served start fetches the face token and arms the expiry`() {
        var machine = machine()
        #expect(machine.handle(started) == [.armExpiry(ceremony), .fetchFaceToken(ceremony)])
        #expect(machine.state == .downloadingFaceToken(ceremony, lostAnswers: 0))
    }

    @Test func `a busy start ends the flow, with the wait when there is one`() {
        var limited = machine()
        _ = limited.handle(.started(.busy(Busy(status: 429, retryAfter: 7))))
        #expect(limited.state == .failed(.rateLimited(retryAfter: 7)))
        var down = machine()
        _ = down.handle(.started(.busy(Busy(status: 503, retryAfter: nil))))
        #expect(down.state == .failed(.server(message: "answer 503")))
    }

    @Test func `a refused start ends the flow`() {
        #expect(
            machine(.started(.refused(.notAllowed(code: "x")))).state
                == .failed(.notAllowed(code: "x")))
    }

    // MARK: - Face token

    @Test func `R-000-21 a lost face token is fetched once more on the same session`() {
        var machine = machine(started)
        #expect(machine.handle(.faceToken(.lost(.noAnswer))) == [.fetchFaceToken(ceremony)])
        #expect(machine.handle(.faceToken(.lost(.noAnswer))).isEmpty)
        #expect(machine.state == .failed(.network))
    }

    @Test func `R-000-15 a password-protected face token aborts the session`() {
        var machine = machine(started)
        #expect(
            machine.handle(answer(.passwordProtected)) == [.abort(ceremony, .passwordProtected)])
        guard case .failed(.server(let message)) = machine.state else {
            Issue.record("did not fail")
            return
        }
        #expect(message.contains("carries a password"))
    }

    @Test func `a face token that cannot be opened aborts the session`() {
        var machine = machine(started)
        #expect(machine.handle(answer(.unreadable)) == [.abort(ceremony, .faceTokenUnreadable)])
        #expect(machine.isOver)
    }

    // MARK: - Capture

    @Test func `R-100-65 a frame while another is checked is dropped and wiped`() {
        var machine = machine(started, answer(), frame())
        let late = FaceFrame([9])
        #expect(machine.handle(.frame(late)) == [.wipe(late)])
        guard case .verifyingFace = machine.state else {
            Issue.record("left verifyingFace")
            return
        }
    }

    @Test func `R-100-62 liveness failures never count`() {
        var machine = machine(started, answer())
        for _ in 0..<10 {
            _ = machine.handle(frame())
            _ = machine.handle(.verdict(.notLive))
        }
        guard case .awaitingFaceCapture(let capture, .livenessFailed) = machine.state else {
            Issue.record("not waiting for a frame")
            return
        }
        #expect(capture.mismatches == 0)
    }

    @Test func `R-100-61 R-100-63 R-100-64 the third mismatch aborts and ends the flow`() {
        var machine = machine(started, answer())
        for mismatch in 1...2 {
            _ = machine.handle(frame())
            #expect(machine.handle(.verdict(.mismatch)).isEmpty)
            guard case .awaitingFaceCapture(let capture, .faceMismatch) = machine.state else {
                Issue.record("not waiting for a frame")
                return
            }
            #expect(capture.mismatches == mismatch)
        }
        _ = machine.handle(frame())
        #expect(
            machine.handle(.verdict(.mismatch)) == [.abort(ceremony, .faceMismatchMaxRetries)])
        #expect(machine.state == .failed(.faceMismatchMaxRetries))
    }

    @Test func `a match makes the proof, and the proof is posted`() {
        var machine = machine(started, answer(), frame())
        let effects = machine.handle(.verdict(.match))
        guard effects.count == 1, case .makeProof = effects[0] else {
            Issue.record("no proof wanted")
            return
        }
        #expect(machine.handle(.proofMade(proof)) == [.complete(proof)])
    }

    // MARK: - Completion

    @Test func `R-000-22 a lost completion is sent once more with the same bytes, then parked`() {
        var machine = posting()
        #expect(machine.handle(lostCompletion) == [.complete(proof)])
        #expect(machine.handle(lostCompletion).isEmpty)
        #expect(parked(machine) == .noAnswer)
    }

    @Test(
        arguments: [
            (Busy(status: 503, retryAfter: nil), PostFailure.server(status: 503)),
            (Busy(status: 429, retryAfter: 3), .rateLimited),
            (Busy(status: 200, retryAfter: nil), .server(status: 200)),
        ])
    func `R-000-22 a busy completion parks at once`(_ busy: Busy, _ reason: PostFailure) {
        var machine = posting()
        #expect(machine.handle(.completed(.busy(busy))).isEmpty)
        #expect(parked(machine) == reason)
    }

    @Test func `R-000-23 R-000-27 retry sends the same bytes with a fresh budget, without limit`() {
        var machine = posting(lostCompletion, lostCompletion)
        for _ in 0..<20 {
            #expect(machine.handle(.retry) == [.complete(proof)])
            #expect(machine.handle(lostCompletion) == [.complete(proof)])
            #expect(machine.handle(lostCompletion).isEmpty)
            #expect(parked(machine) == .noAnswer)
        }
    }

    @Test func `a refused completion ends the flow`() {
        #expect(posting(.completed(.refused(.expired))).state == .failed(.expired))
    }

    // MARK: - Token

    @Test func `R-000-24 a lost or busy token answer re-sends the completion, twice in all`() {
        var machine = posting(gotCode)
        #expect(machine.handle(lostToken) == [.complete(proof)])
        #expect(machine.handle(gotCode) == [.redeem(code)])
        let busy = SignInEvent.redeemed(.busy(Busy(status: 502, retryAfter: nil)))
        #expect(machine.handle(busy) == [.complete(proof)])
        #expect(machine.handle(gotCode) == [.redeem(code)])
        #expect(machine.handle(lostToken).isEmpty)
        #expect(parked(machine) == .noAnswer)
    }

    @Test func `R-000-24 a user's retry does not give automatic re-sends back`() {
        var machine = posting(
            gotCode, lostToken, gotCode, lostToken, gotCode, lostToken, .retry, gotCode)
        #expect(machine.handle(lostToken).isEmpty)
        #expect(parked(machine) == .noAnswer)
    }

    @Test func `R-000-26 a refused exchange ends the flow`() {
        let machine = posting(gotCode, .redeemed(.refused(.server(message: "x"))))
        #expect(machine.state == .failed(.server(message: "x")))
    }

    @Test func `R-000-32 rejected tokens are revoked and nothing is stored`() throws {
        var machine = posting(gotCode)
        let issued = try grant.revocable
        #expect(machine.handle(.tokensRejected(issued)) == [.revoke(issued)])
        #expect(machine.state == .failed(.tokenRejected))
    }

    @Test func `R-000-33 good tokens are stored before the flow is signed in`() throws {
        var machine = posting(gotCode)
        let grant = try grant
        #expect(machine.handle(.redeemed(.served(grant))) == [.store(grant)])
        #expect(!machine.isOver)
        #expect(SignInState(machine) == .redeemingCode)
    }

    // MARK: - Ends

    @Test func `cancel works in every state but the last step, and aborts an open session`() throws
    {
        var starting = machine()
        #expect(starting.handle(.cancel).isEmpty)
        #expect(starting.state == .cancelled)
        let open = [
            machine(started), machine(started, answer()), machine(started, answer(), frame()),
            posting(), posting(lostCompletion, lostCompletion), posting(gotCode),
        ]
        for var machine in open {
            #expect(machine.handle(.cancel) == [.abort(ceremony, .userCancelled)])
            #expect(machine.state == .cancelled)
        }
        var storing = posting(gotCode, .redeemed(.served(try grant)))
        #expect(storing.handle(.cancel).isEmpty)
        #expect(!storing.isOver)
    }

    @Test func `a session that opens after cancel is closed again`() {
        var machine = machine(.cancel)
        #expect(machine.handle(started) == [.abort(ceremony, .userCancelled)])
        #expect(machine.state == .cancelled)
    }

    @Test func `tokens that come after the flow ended are revoked`() throws {
        for end in [SignInEvent.cancel, .expired] {
            var machine = posting(gotCode, end)
            let grant = try grant
            #expect(machine.handle(.redeemed(.served(grant))) == [.revoke(grant.revocable)])
            #expect(machine.isOver)
        }
    }

    @Test func `expiry ends every state but the last step`() throws {
        let open = [
            machine(started), machine(started, answer()), machine(started, answer(), frame()),
            posting(), posting(lostCompletion, lostCompletion), posting(gotCode),
        ]
        for var machine in open {
            #expect(machine.handle(.expired).isEmpty)
            #expect(machine.state == .failed(.expired))
        }
        var storing = posting(gotCode, .redeemed(.served(try grant)))
        #expect(storing.handle(.expired).isEmpty)
        #expect(!storing.isOver)
    }

    // MARK: - Face keys

    private func pki(
        _ kind: PkiCeremonyKind = .publicKeys, context: Int = 1, operand: Int? = nil,
        scope: PkiScope? = nil
    ) -> SignInPkiRequest {
        SignInPkiRequest(
            kind: kind, context: Data(repeating: 1, count: context),
            operand: operand.map { Data(repeating: 2, count: $0) }, scope: scope)
    }

    @Test func `R-000-61 R-000-63 a malformed face-key request aborts before the scan`() {
        let bad = [
            pki(context: 256), pki(operand: 1), pki(.sign), pki(.sign, operand: 33),
            pki(.decapsulate), pki(.decapsulate, operand: 0),
        ]
        for request in bad {
            var machine = machine(pki: request, started)
            #expect(machine.handle(answer(pki: true)) == [.abort(ceremony, .pkiRefused)])
            #expect(machine.state == .failed(.invalidPkiRequest))
        }
    }

    @Test func `R-000-62 a tenant without face keys, or without its scope, is told apart`() {
        var without = machine(pki: pki(), started)
        _ = without.handle(answer(pki: false))
        #expect(without.state == .failed(.pkiNotAvailable))
        var scope = machine(pki: pki(scope: .tenant), started)
        _ = scope.handle(answer(pki: true, tenant: false))
        #expect(scope.state == .failed(.pkiScopeNotAllowed))
    }

    @Test func `R-000-60 R-000-64 the operation runs after the match and before the proof`() {
        let request = pki(.sign, context: 255, operand: 64)
        var machine = machine(pki: request, started, answer(pki: true), frame())
        #expect(machine.handle(.verdict(.match)) == [.runPki(request, token)])
        #expect(SignInState(machine) == .runningPki(kind: .sign))
        var missing = machine
        #expect(missing.handle(.pkiFinished(nil)) == [.abort(ceremony, .pkiRefused)])
        #expect(missing.state == .failed(.pkiKeysNotReady))
        let result = SignInPkiResult(context: request.context, scope: .app, publicKey: Data())
        let effects = machine.handle(.pkiFinished(result))
        guard effects.count == 1, case .makeProof(let capture) = effects[0] else {
            Issue.record("no proof wanted")
            return
        }
        #expect(capture.pki == result)
    }
}
