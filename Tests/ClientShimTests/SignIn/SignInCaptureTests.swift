import JOSE
import Synchronization
import Testing

@testable import ClientShim

@Suite struct SignInCaptureTests {
    @Test func `R-100-60 to R-100-64 liveness does not count, mismatches do, the third aborts`()
        async throws
    {
        let engine = ScriptedFaceEngine(
            verdicts: [.notLive, .mismatch, .notLive, .mismatch, .notLive, .mismatch])
        let world = try await World(engine: engine)
        let states = await world.signIn(with: FakeAssertions())
        let waits = states.compactMap { state -> String? in
            guard case .awaitingFaceCapture(let wait) = state else { return nil }
            #expect(wait.attemptsMax == 3)
            return "\(wait.attemptsUsed) \(wait.lastError.map { "\($0)" } ?? "-")"
        }
        #expect(
            waits == [
                "0 -", "0 livenessFailed", "1 faceMismatch", "1 livenessFailed", "2 faceMismatch",
                "2 livenessFailed",
            ])
        #expect(states.failure == .faceMismatchMaxRetries)
        #expect(engine.matcherCalls == 3)
        #expect(await eventually { world.provider.aborts == ["face_mismatch_max_retries"] })
        #expect(world.provider.count(.completion) == 0)
    }

    @Test func `R-000-17 the face token is rotated once, after the match`() async throws {
        let world = try await World(verdicts: [.mismatch])
        world.provider.plan(.completion, [.loseRequest])
        _ = await world.signIn(with: FakeAssertions())
        let completions = Set(
            world.provider.forms(.completion).compactMap { $0["ceremony_response"] })
        #expect(completions.count == 1)
        let token = world.provider.state.withLock { $0.faceToken }
        #expect(token != "scripted-face:one.0")
        #expect(token.hasPrefix("scripted-face:one."))
    }

    @Test func `R-100-67 a frame is wiped when its verdict is known, and when it is dropped`()
        async throws
    {
        let world = try await World(verdicts: [.notLive])
        let flow = world.authn.startSignInFlow(config: world.config)
        let driver = flow.faceCaptureDriver()
        let early = FaceFrame([7, 7, 7])
        driver.submitFaceCapture(early)
        #expect(await eventually { early.withBytes { $0.isEmpty } })
        let frame = FaceFrame([7, 7, 7])
        for await state in flow.stateStream() {
            guard case .awaitingFaceCapture(let wait) = state else { continue }
            if wait.lastError != nil { break }
            driver.submitFaceCapture(frame)
        }
        #expect(frame.withBytes { $0.isEmpty })
        flow.cancel()
    }

    @Test func `R-000-15 a password-protected token aborts and says so`() async throws {
        let world = try await World()
        world.provider.set { $0.faceTokenResponse = ["password_protected": "true"] }
        guard case .server(let message) = await world.signIn(with: FakeAssertions()).failure else {
            Issue.record("no server failure")
            return
        }
        #expect(message.contains("password"))
        #expect(
            await eventually { world.provider.aborts == ["face_token_password_protected"] })
    }

    @Test func `R-100-66 the capture surface sees its own states, retries, and sees the outcome`()
        async throws
    {
        let world = try await World(verdicts: [.mismatch])
        world.provider.plan(.completion, [.answer(FakeProvider.busy(503, retryAfter: "2"))])
        let flow = world.authn.startSignInFlow(config: world.config)
        let driver = flow.faceCaptureDriver()
        var seen: [FaceCaptureUiState] = []
        for await state in driver.stateStream() {
            seen.append(state)
            switch state {
            case .ready:
                driver.retry()  // means nothing here
                driver.submitFaceCapture(FaceFrame([1]))
            case .postFailed: driver.retry()
            default: break
            }
        }
        let context = CaptureContext(branding: Branding(organisation: "Bank"))
        #expect(
            seen == [
                .waiting,
                .ready(attemptsUsed: 0, attemptsMax: 3, lastError: nil, context: context),
                .checking,
                .ready(attemptsUsed: 1, attemptsMax: 3, lastError: .faceMismatch, context: context),
                .checking, .posting, .postFailed(retryAfter: 2), .posting, .done(.succeeded),
            ])
    }
}
