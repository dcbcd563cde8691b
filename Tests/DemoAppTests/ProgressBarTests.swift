import Testing

@testable import ClientShim
@testable import DemoApp

@Suite struct ProgressBarTests {
    private static let scan = Stage.scan(
        Stage.Scan(mismatches: 0, mismatchesMax: 3, lastError: nil, secondsLeft: 300))

    private func bar(_ stages: Stage...) -> String {
        var bar = ProgressBar()
        for stage in stages { bar.move(to: stage) }
        return bar.text()
    }

    @Test(arguments: [
        (Stage.idle, "[idle] > starting"), (.starting, "idle > [starting] > face token"),
        (.faceToken, "[face token]"), (scan, "[scan]"), (.checking, "[checking]"),
        (.faceKeys, "scan > [face keys] > posting"), (.posting, "[posting]"),
        (.tryAgain(reason: "", retryAfter: nil), "checking > [posting: try again] > redeeming"),
        (.redeeming, "[redeeming]"), (.signedIn, "redeeming > [signed in]"),
    ])
    func `the present place is in brackets, and it alone`(_ stage: Stage, _ part: String) {
        let text = bar(stage)
        #expect(text.contains(part))
        #expect(text.count { $0 == "[" } == 1)
        #expect(text.split(separator: " > ").count == 8)
    }

    @Test func `an early end shows how far the sign-in had come`() {
        #expect(
            bar(.starting, Self.scan, .cancelled)
                == "idle > starting > face token > scan > [cancelled]")
        #expect(bar(.starting, .failed("network")) == "idle > starting > [failed]")
    }

    @Test func `a sign-in after another begins at the beginning`() {
        #expect(bar(.signedIn, .starting, .failed("network")) == "idle > starting > [failed]")
    }

    @Test func `every state of the SDK has a place, and says what it waits for`() {
        let capture = FaceCaptureRequest(
            attemptsUsed: 1, attemptsMax: 3, lastError: .faceMismatch, expiresAtUnix: 1_100)
        #expect(
            Stage(.awaitingFaceCapture(capture), now: 1_000).waiting
                == "that was another face; the camera waits for a face: match, no-match, not-live or"
                + " cancel (2 of 3 tries left, 100 s)")
        #expect(
            Stage(.postingResultFailed(reason: .rateLimited, retryAfter: 7), now: 0).waiting
                == "the provider asks to wait: retry sends the same proof again, without a scan,"
                + " not before 7 s")
        #expect(Stage(.failed(reason: .expired), now: 0).waiting == "failed: expired")
        let busy: [SignInState] = [
            .starting, .downloadingFaceToken, .verifyingFace,
            .runningPki(kind: .sign), .postingResult, .redeemingCode,
        ]
        for state in busy {
            let stage = Stage(state, now: 0)
            #expect(stage.isOpen && !stage.isAtRest && stage.waiting == nil)
        }
        #expect(Stage(.cancelled, now: 0) == .cancelled)
    }
}
