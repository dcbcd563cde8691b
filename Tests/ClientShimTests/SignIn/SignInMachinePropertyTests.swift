import JOSE
import TestKit
import Testing

@testable import ClientShim

/// Whatever happens in whatever order, the machine stays legal.
@Suite struct SignInMachinePropertyTests {
    private let ceremony = Ceremony(sid: "sid", expiresAt: 1, providerExpiresAt: 1)

    private func event(_ random: inout SeededRandom, _ grant: TokenGrant) -> SignInEvent {
        let lost = PostFailure.noAnswer
        let busy = Busy(status: Bool.random(using: &random) ? 429 : 500, retryAfter: 1)
        let token = FaceTokenAnswer(
            content: .opened(OpenedFaceToken(handle: Secret([1]))), branding: nil,
            pkiAvailable: false, pkiTenantScopeAllowed: false, providerExpiresAt: nil)
        let events: [SignInEvent] = [
            .started(.served(ceremony)), .started(.lost(lost)), .started(.busy(busy)),
            .faceToken(.served(token)), .faceToken(.lost(lost)), .frame(FaceFrame([1])),
            .verdict(.match), .verdict(.mismatch), .verdict(.notLive),
            .proofMade(Secret("proof")), .completed(.served(Secret("code"))),
            .completed(.lost(lost)), .completed(.busy(busy)), .redeemed(.served(grant)),
            .redeemed(.lost(lost)), .redeemed(.busy(busy)), .retry, .pkiFinished(nil),
        ]
        // Ends are rare, or every walk would be short.
        let ends: [SignInEvent] = [.cancel, .expired, .started(.refused(.expired))]
        return Int.random(in: 0..<40, using: &random) == 0
            ? ends[Int.random(in: 0..<ends.count, using: &random)]
            : events[Int.random(in: 0..<events.count, using: &random)]
    }

    /// A retry without a parked proof and a frame nobody waits for leave everything as it is.
    private func expectIdleControls(_ machine: SignInMachine) {
        var other = machine
        if case .postingResultFailed = machine.state {
        } else {
            #expect(other.handle(.retry).isEmpty)
        }
        if case .awaitingFaceCapture = machine.state {
        } else {
            let frame = FaceFrame([1])
            #expect(other.handle(.frame(frame)) == [.wipe(frame)])
        }
        #expect(other == machine)
    }

    @Test(arguments: 0..<300)
    func `R-100-02 R-100-03 any order of events keeps the machine legal`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let json = try JSONValue(
            parsing: Array(#"{"access_token":"a","token_type":"DPoP"}"#.utf8))
        let grant = try TokenGrant(
            json,
            TokenGrant.Context(
                check: IDTokenCheck(issuer: "", clientId: "", nonce: nil, subject: nil, now: 0),
                scope: "", dpopJkt: "", needsIDToken: false, now: 0))
        var machine = SignInMachine(pki: nil, isValid: true)
        var stores = 0
        for _ in 0..<400 {
            let before = machine
            expectIdleControls(machine)
            let effects = machine.handle(event(&random, grant))
            if before.isOver {
                #expect(machine.state == before.state)
                for effect in effects {
                    switch effect {
                    case .abort, .revoke, .wipe: break
                    default: Issue.record("a finished flow wants \(effect)")
                    }
                }
            }
            // At most one call of the flow is out at any time.
            let calls = effects.filter { effect in
                switch effect {
                case .abort, .revoke, .wipe, .armExpiry: false
                default: true
                }
            }
            #expect(calls.count <= 1)
            stores += effects.count { if case .store = $0 { true } else { false } }
        }
        #expect(stores <= 1)
    }
}
