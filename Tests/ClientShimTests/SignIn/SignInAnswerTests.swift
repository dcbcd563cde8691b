import JOSE
import Testing

@testable import ClientShim

/// What the app is told of each answer, and who is named to the provider.
@Suite struct SignInAnswerTests {
    @Test func `R-100-27 a limited completion parks with its wait, told as a date`() async throws {
        for (wait, told) in [(30, 30), (9000, 3600)] as [(Int64, Int)] {
            let world = try await World()
            let date = FakeProvider.date(world.clock.now() + wait)
            world.provider.plan(.completion, [.answer(FakeProvider.busy(429, retryAfter: date))])
            let states = await world.signIn()
            #expect(
                states.last == .postingResultFailed(reason: .rateLimited, retryAfter: told))
        }
    }

    @Test func `R-100-27 R-000-24 a token endpoint that stays busy parks with its wait`()
        async throws
    {
        let world = try await World()
        let busy = FakeProvider.Fault.answer(FakeProvider.busy(503, retryAfter: "7"))
        world.provider.plan(.token, [busy, busy, busy])
        let states = await world.signIn()
        #expect(
            states.last == .postingResultFailed(reason: .server(status: 503), retryAfter: 7))
        #expect(world.provider.count(.completion) == 3)
    }

    @Test func `R-100-27 a limited face token says how long to wait`() async throws {
        let world = try await World()
        world.provider.plan(.faceToken, [.answer(FakeProvider.busy(429, retryAfter: "7"))])
        #expect(await world.signIn().failure == .rateLimited(retryAfter: 7))
        #expect(world.provider.count(.faceToken) == 1)
    }

    @Test(
        arguments: [
            "first_party_requires_own_app", "first_party_requires_dpop",
            "first_party_excludes_certificate_binding", "first_party_not_enabled",
            "redirect_uri_required", "redirect_uri_scheme", "client_auth_method",
        ])
    func `R-000-07 every precondition is told by its code, as the error or beside it`(
        _ code: String
    ) async throws {
        for members in [
            ["error": "\"\(code)\""], ["error": #""access_denied""#, "code": "\"\(code)\""],
        ] {
            let world = try await World()
            world.provider.plan(.start, [.answer(FakeProvider.json(400, members))])
            #expect(await world.signIn().failure == .notAllowed(code: code))
        }
    }

    @Test(arguments: ["access_denied", "invalid_grant", "device_key_revoked", "redirect_to_web"])
    func `R-000-26 R-100-22 a refused code is final, and no failure but the server's`(
        _ error: String
    ) async throws {
        let world = try await World()
        world.provider.plan(.token, [.answer(FakeProvider.error(400, error))])
        let states = await world.signIn()
        #expect(states.failure == .server(message: "answer 400, \(error)"))
        #expect(world.provider.count(.token) == 1)
        #expect(world.provider.count(.completion) == 1)
        #expect(try world.record == nil)
    }

    @Test func `R-000-27 a parked proof ends with its session`() async throws {
        let world = try await World()
        world.provider.plan(.completion, [.answer(FakeProvider.busy(503))])
        let flow = world.authn.startSignInFlow(config: world.config)
        let driver = flow.faceCaptureDriver()
        var last: SignInState?
        for await state in flow.stateStream() {
            last = state
            if case .awaitingFaceCapture = state { driver.submitFaceCapture(FaceFrame([1])) }
            if case .postingResultFailed = state { world.clock.advance(seconds: 300) }
        }
        #expect(last == .failed(reason: .expired))
        flow.retry()
        driver.retry()
        #expect(await flow.stateStream().reduce(into: []) { $0.append($1) } == [last])
        #expect(world.provider.count(.completion) == 1)
    }

    @Test func `R-100-64 an abort that is lost changes nothing for the app`() async throws {
        let world = try await World(verdicts: [.mismatch, .mismatch, .mismatch])
        world.provider.plan(.abort, [.loseRequest])
        #expect(await world.signIn().failure == .faceMismatchMaxRetries)
        #expect(await eventually { world.provider.count(.abort) == 1 })
        #expect(world.provider.aborts.isEmpty)
    }

    @Test(arguments: [ScriptedFaceEngine.Verdict.notLive, .mismatch, .match])
    func `R-100-67 a frame is wiped whatever its verdict`(
        _ verdict: ScriptedFaceEngine.Verdict
    ) async throws {
        let world = try await World(verdicts: [verdict])
        let flow = world.authn.startSignInFlow(config: world.config)
        let frame = FaceFrame([7, 7, 7])
        var isJudged = false
        for await state in flow.stateStream() where !isJudged {
            if case .awaitingFaceCapture(let wait) = state, wait.lastError == nil {
                flow.faceCaptureDriver().submitFaceCapture(frame)
                continue
            }
            switch state {
            case .awaitingFaceCapture, .postingResult:
                isJudged = true
                #expect(frame.withBytes { $0.isEmpty })
                flow.cancel()
            default: break
            }
        }
        #expect(isJudged)
    }

    // MARK: - Who signs in

    @Test func `R-000-05 a stranger is asked for by name, and not enrolled even when served`()
        async throws
    {
        let world = try await World()
        let served = FakeProvider.json(
            200, ["face_token": #""scripted-face:one.0""#, "password_protected": "false"])
        world.provider.plan(.faceToken, [.answer(served)])
        var config = world.config
        config.loginHint = "stranger@example.test"
        #expect(await world.signIn(config, frames: 0).failure == .notEnrolled)
        #expect(world.provider.forms(.start).map { $0["login_hint"] } == [config.loginHint])
        #expect(world.provider.count(.completion) == 0)
    }

    @Test func `R-000-06 a sign-in makes its key the one used last`() async throws {
        let world = try await World()
        let jwk = try world.keyStore.generate(label: "device-2")
        let other = Identity(
            keyId: jwk.thumbprint, email: "other@example.test", keyLabel: "device-2",
            issuer: World.issuer, deviceId: "device-1", lastUsed: 5)
        try await world.authn.importIdentity(other)
        _ = await world.signIn()
        var config = world.config
        config.loginHint = World.email
        #expect(await world.signIn(config).session != nil)
        _ = await world.signIn()
        #expect(
            world.provider.forms(.start).map { $0["login_hint"] }
                == [other.email, World.email, World.email])
    }
}
