import JOSE
import Testing

@testable import ClientShim

/// The whole flow over a scripted network whose provider checks signatures, nonces and single use.
@Suite struct SignInFlowTests {
    @Test func `R-000 signs in, step by step, and the session is on disk`() async throws {
        let world = try await World()
        let assertions = FakeAssertions()
        let states = await world.signIn(with: assertions)
        let names = states.map { "\($0)".prefix { $0.isLetter } }
        #expect(
            names == [
                "starting", "downloadingFaceToken", "awaitingFaceCapture", "verifyingFace",
                "postingResult", "redeemingCode", "signedIn",
            ])
        let session = try #require(states.session)
        #expect(session.subject == "user-1")
        #expect(session.scope == "openid offline_access")
        #expect(try world.restarted().currentSession() == session)
        #expect(world.provider.violations.isEmpty)
        #expect(world.provider.liveGrants == 1)
    }

    @Test
    func `R-101-01 R-101-07 one call of the provider for each attempt, for the issuer as a string`()
        async throws
    {
        let world = try await World()
        world.provider.set { $0.demandsNonce = true }
        let assertions = FakeAssertions()
        let states = await world.signIn(with: assertions)
        #expect(states.session != nil)
        // The nonce asked for at the start is good for the rest.
        #expect(world.provider.count(.start) == 2)
        let attempts = [.start, .completion, .token].map(world.provider.count).reduce(0, +)
        #expect(assertions.requests.count == attempts)
        #expect(world.provider.violations.isEmpty)
        for request in assertions.requests {
            #expect(request.audience == World.issuer)
            #expect(request.clientId == World.clientId)
            #expect(request.dpopJkt.count == 43)
        }
    }

    @Test func `R-101-08 a public client sends its id and nothing else to authenticate`()
        async throws
    {
        let world = try await World()
        let states = await world.signIn()
        #expect(states.session != nil)
        for form in world.provider.forms(.start) + world.provider.forms(.token) {
            #expect(form["client_id"] == World.clientId)
            #expect(form["client_assertion"] == nil && form["client_secret"] == nil)
        }
    }

    @Test func `R-000-10 R-000-06 the start carries the form of the draft`() async throws {
        let world = try await World()
        _ = await world.signIn(with: FakeAssertions())
        let form = try #require(world.provider.forms(.start).first)
        #expect(form["response_type"] == "code")
        #expect(form["code_challenge_method"] == "S256")
        #expect(form["code_challenge"]?.count == 43)
        #expect(form["login_hint"] == World.email)
        #expect((form["nonce"]?.count ?? 99) <= 64)
        let token = try #require(world.provider.forms(.token).first)
        #expect(token["redirect_uri"] == nil)
        #expect(token["code_verifier"]?.count == 43)
    }

    // MARK: - Lost

    /// R-000-29: each call whose loss costs nothing and asks nothing of the app, whichever way the message went, and
    /// whether or not it left the device (R-100-20).
    @Test(
        arguments: [FakeProvider.Call.start, .faceToken, .completion, .token],
        [FakeProvider.Fault.loseRequest, .loseAnswer])
    func `R-000-20 to R-000-24 one lost message costs no scan, no retry and no second grant`(
        _ call: FakeProvider.Call, _ fault: FakeProvider.Fault
    ) async throws {
        let engine = ScriptedFaceEngine()
        let world = try await World(engine: engine)
        world.provider.plan(call, [fault])
        let states = await world.signIn(with: FakeAssertions())
        #expect(states.session != nil)
        #expect(states.parked.isEmpty)
        #expect(engine.matcherCalls == 1)
        #expect(world.provider.liveGrants == 1)
        #expect(world.provider.violations.isEmpty)
        #expect(world.provider.count(call) == 2)
    }

    @Test(arguments: [FakeProvider.Call.discovery, .start, .faceToken])
    func `R-000-20 R-000-21 two lost messages before the scan end the flow`(
        _ call: FakeProvider.Call
    ) async throws {
        let world = try await World()
        world.provider.plan(call, [.loseRequest, .loseRequest])
        let states = await world.signIn(with: FakeAssertions())
        #expect(states.failure == .network)
        #expect(try world.restarted().currentSession() == nil)
    }

    @Test func `R-000-22 R-000-23 a parked proof goes through with the same bytes and no scan`()
        async throws
    {
        let engine = ScriptedFaceEngine()
        let world = try await World(engine: engine)
        world.provider.plan(.completion, [.loseAnswer, .loseAnswer, .loseRequest])
        let states = await world.signIn(with: FakeAssertions(), retries: 1)
        #expect(states.parked == [.noAnswer])
        #expect(states.session != nil)
        let proofs = world.provider.forms(.completion).map { $0["ceremony_response"] }
        #expect(proofs.count == 4)
        #expect(Set(proofs).count == 1)
        #expect(engine.matcherCalls == 1)
        #expect(world.provider.violations.isEmpty)
    }

    @Test func `R-000-24 three lost token answers park, and a retry ends in one live grant`()
        async throws
    {
        let world = try await World()
        world.provider.plan(.token, [.loseAnswer, .loseAnswer, .loseAnswer])
        let states = await world.signIn(with: FakeAssertions(), retries: 1)
        #expect(states.parked == [.noAnswer])
        #expect(states.session != nil)
        #expect(world.provider.count(.token) == 4)
        #expect(world.provider.liveGrants == 1)
        #expect(world.provider.violations.isEmpty)
    }

    @Test func `R-101-05 a missing assertion counts as a lost message of its step`() async throws {
        let world = try await World()
        let once = FakeAssertions(failing: [2])
        #expect(await world.signIn(with: once).session != nil)
        #expect(world.provider.count(.completion) == 1)

        let other = try await World()
        let states = await other.signIn(with: FakeAssertions(failing: [2, 3]))
        #expect(states.parked == [.assertionUnavailable])

        let start = try await World()
        #expect(await start.signIn(with: FakeAssertions(failing: [1, 2])).failure == .network)
        #expect(start.provider.count(.start) == 0)
    }

    // MARK: - Busy

    @Test func `R-100-27 a rate-limited start says how long to wait`() async throws {
        let world = try await World()
        world.provider.plan(.start, [.answer(FakeProvider.busy(429, retryAfter: "9000"))])
        let states = await world.signIn(with: FakeAssertions())
        #expect(states.failure == .rateLimited(retryAfter: 3600))
        #expect(world.provider.count(.start) == 1)
    }

    @Test(arguments: [500, 502, 503])
    func `R-000-22 a busy completion parks after one attempt`(_ status: Int) async throws {
        let world = try await World()
        world.provider.plan(.completion, [.answer(FakeProvider.busy(status, retryAfter: "4"))])
        let states = await world.signIn(with: FakeAssertions())
        #expect(
            states.last == .postingResultFailed(reason: .server(status: status), retryAfter: 4))
        #expect(world.provider.count(.completion) == 1)
    }

    @Test func `R-000-24 a busy token endpoint counts as a lost answer`() async throws {
        let world = try await World()
        world.provider.plan(.token, [.answerAfter(FakeProvider.busy(503))])
        let states = await world.signIn(with: FakeAssertions())
        #expect(states.session != nil)
        #expect(world.provider.count(.completion) == 2)
        #expect(world.provider.liveGrants == 1)
    }

    @Test func `R-100-26 an answer too long to read is busy`() async throws {
        let world = try await World()
        let long = HTTPAnswer(status: 200, isOversized: true)
        world.provider.plan(.completion, [.answer(long)])
        #expect(await world.signIn(with: FakeAssertions()).parked == [.server(status: 200)])
    }

    // MARK: - Nonces

    @Test(arguments: [FakeProvider.Call.start, .faceToken, .completion, .token])
    func `R-100-33 a second challenge in a row is a refusal`(
        _ call: FakeProvider.Call
    ) async throws {
        let world = try await World()
        func challenge(_ nonce: String) -> FakeProvider.Fault {
            .answer(
                FakeProvider.error(
                    400, "use_dpop_nonce", [HTTPHeader("DPoP-Nonce", nonce)]))
        }
        world.provider.plan(call, [challenge("a"), challenge("b"), challenge("c")])
        let states = await world.signIn(with: FakeAssertions())
        #expect(states.failure == .server(message: "answer 400, use_dpop_nonce"))
        #expect(world.provider.count(call) == 2)
    }

    @Test func `R-100-33 the same nonce again, or none, is not repeated`() async throws {
        let world = try await World()
        let without = FakeProvider.Fault.answer(FakeProvider.error(400, "use_dpop_nonce"))
        world.provider.plan(.start, [without])
        #expect(await world.signIn(with: FakeAssertions()).failure != nil)
        #expect(world.provider.count(.start) == 1)
    }

    @Test func `R-100-34 a nonce repeat does not use up the one re-send of a lost message`()
        async throws
    {
        let world = try await World()
        world.provider.set { $0.demandsNonce = true }
        world.provider.plan(.start, [.loseRequest])
        let states = await world.signIn(with: FakeAssertions())
        #expect(states.session != nil)
        #expect(world.provider.count(.start) == 3)
    }

    // MARK: - Refused

    @Test(
        arguments: [
            ("first_party_not_enabled", SignInFailure.notAllowed(code: "first_party_not_enabled")),
            ("redirect_uri_scheme", .notAllowed(code: "redirect_uri_scheme")),
            ("access_denied", .accessDenied),
            ("attestation_rejected", .attestationRejected),
            ("device_key_revoked", .deviceKeyRevoked),
            ("device_key_replaced", .deviceKeyReplaced),
            ("redirect_to_web", .browserRequired(requestUri: nil)),
            ("invalid_client", .server(message: "answer 400, invalid_client")),
            ("something\u{7}new", .server(message: "answer 400, something?new")),
        ])
    func `R-000-07 R-100-22 a refusal ends the flow in its own words, after one attempt`(
        _ code: String, _ failure: SignInFailure
    ) async throws {
        for call in [FakeProvider.Call.start, .completion] {
            let world = try await World()
            let text = code.replacing("\u{7}", with: "\\u0007")
            world.provider.plan(call, [.answer(FakeProvider.error(400, text))])
            let states = await world.signIn(with: FakeAssertions())
            #expect(states.failure == failure)
            #expect(world.provider.count(call) == 1)
            #expect(try world.restarted().currentSession() == nil)
        }
    }

    @Test func `R-100-24 a redirect is a refusal and is not followed`() async throws {
        let world = try await World()
        let redirect = HTTPAnswer(
            status: 307, headers: [HTTPHeader("Location", "https://elsewhere.example/")])
        world.provider.plan(.start, [.answer(redirect)])
        let states = await world.signIn(with: FakeAssertions())
        #expect(states.failure == .server(message: "answer 307"))
        #expect(world.provider.count(.start) == 1)
    }

    @Test(arguments: ["", "not json", "{}", #"{"authorization_code":""}"#])
    func `a completion without a code is an unexpected answer`(_ body: String) async throws {
        let world = try await World()
        let answer = HTTPAnswer(status: 200, body: Array(body.utf8))
        world.provider.plan(.completion, [.answer(answer)])
        guard case .server = await world.signIn(with: FakeAssertions()).failure else {
            Issue.record("no server failure")
            return
        }
    }

    // MARK: - Enrolment

    @Test func `R-000-04 without any enrolled key nothing is sent`() async throws {
        let world = try await World(enrolled: false)
        #expect(await world.signIn(with: FakeAssertions()).failure == .notEnrolled)
        #expect(FakeProvider.Call.allCases.allSatisfy { world.provider.count($0) == 0 })
    }

    @Test
    func `R-000-05 R-000-14 an unknown hint and a dead session end alike, after the same calls`()
        async throws
    {
        let stranger = try await World()
        var config = stranger.config
        config.loginHint = "stranger@example.test"
        let states = await stranger.signIn(config, with: FakeAssertions())
        let dead = try await World()
        dead.provider.set { $0.faceToken = "" }
        dead.provider.plan(
            .faceToken, [.answer(FakeProvider.error(404, "ceremony_unavailable"))])
        let other = await dead.signIn(with: FakeAssertions())
        #expect(states == other)
        #expect(states.failure == .notEnrolled)
        for call in FakeProvider.Call.allCases {
            #expect(stranger.provider.count(call) == dead.provider.count(call))
        }
        // The key of that one request is gone again.
        #expect(try stranger.keyStore.list().allSatisfy { !$0.hasPrefix("throwaway") })
    }

    @Test func `R-000-06 without a hint the most recently used key of the issuer is taken`() {
        func identity(_ id: String, _ issuer: String, _ lastUsed: Int64) -> Identity {
            Identity(
                keyId: id, email: id, keyLabel: id, issuer: issuer, deviceId: id,
                lastUsed: lastUsed)
        }
        let all = [identity("a", "i", 1), identity("b", "i", 5), identity("c", "other", 9)]
        #expect(Identities.choose(all, issuer: "i", hint: nil) == .key(all[1]))
        #expect(Identities.choose(all, issuer: "i", hint: "A") == .key(all[0]))
        #expect(Identities.choose(all, issuer: "i", hint: "c") == .stranger(hint: "c"))
        #expect(Identities.choose([], issuer: "i", hint: "c") == .none)
        #expect(Identities.choose([all[2]], issuer: "i", hint: nil) == .none)
    }

    // MARK: - Config

    @Test(
        arguments: [
            "http://idp.example", "https://idp.example?x=1", "https://idp.example#f", "idp.example",
            "https://", "https://user@idp.example", "ftp://idp.example", "",
        ])
    func `R-000-02 a bad issuer ends at once with no network call`(_ issuer: String) async throws {
        let world = try await World()
        var config = world.config
        config.issuer = issuer
        let states = await world.signIn(config, with: FakeAssertions())
        #expect(states == [.failed(reason: .invalidConfiguration)])
        #expect(world.provider.count(.discovery) == 0)
    }

    @Test func `R-000-03 empty scopes mean openid, and openid is not added to others`() async throws
    {
        let world = try await World()
        var config = world.config
        config.scopes = []
        _ = await world.signIn(config)
        config.scopes = ["accounts"]
        _ = await world.signIn(config)
        #expect(world.provider.forms(.start).map { $0["scope"] } == ["openid", "accounts"])
    }

    // MARK: - Metadata

    @Test(
        arguments: [
            ["issuer": #""https://idp.example/""#], ["issuer": #""https://other.example""#],
            ["token_endpoint": #""http://idp.example/token""#],
            ["authorization_challenge_endpoint": "null"], ["token_endpoint": "7"],
            ["dpop_signing_alg_values_supported": #"["RS256"]"#],
        ])
    func `R-100-40 R-100-41 metadata that is another's or lacks what is needed is not used`(
        _ members: [String: String]
    ) async throws {
        let world = try await World()
        world.provider.set { $0.metadata = members }
        guard case .server = await world.signIn(with: FakeAssertions()).failure else {
            Issue.record("no server failure")
            return
        }
        #expect(world.provider.count(.start) == 0)
    }

    @Test func `R-100-40 the OAuth document is looked for when the OpenID one is not there`() {
        #expect(
            MetadataCache.oauthURL("https://idp.example/tenant/")
                == "https://idp.example/.well-known/oauth-authorization-server/tenant")
        #expect(
            MetadataCache.oauthURL("https://idp.example")
                == "https://idp.example/.well-known/oauth-authorization-server")
    }

    @Test func `R-100-42 metadata is kept for ten minutes`() async throws {
        let world = try await World()
        _ = await world.signIn()
        _ = await world.signIn()
        #expect(world.provider.count(.discovery) == 1)
        world.clock.advance(seconds: 601)
        _ = await world.signIn()
        #expect(world.provider.count(.discovery) == 2)
    }

    @Test func `R-100-42 an endpoint that moved is found again`() async throws {
        let world = try await World()
        world.provider.set { $0.metadata["token_endpoint"] = #""https://idp.example/gone""# }
        let flow = world.authn.startSignInFlow(config: world.config)
        let driver = flow.faceCaptureDriver()
        var last: SignInState?
        for await state in flow.stateStream() {
            last = state
            guard case .awaitingFaceCapture = state else { continue }
            world.provider.set { $0.metadata = [:] }
            driver.submitFaceCapture(FaceFrame([1]))
        }
        guard case .signedIn = last else {
            Issue.record("ended as \(String(describing: last))")
            return
        }
        #expect(world.provider.count(.discovery) == 2)
    }

    // MARK: - Clocks

    @Test(arguments: [-4000, 4000] as [Int64])
    func `R-100-35 a device with a wrong clock signs in by the provider's`(
        _ offset: Int64
    ) async throws {
        let world = try await World()
        world.provider.set { $0.dateOffset = offset }
        #expect(await world.signIn(with: FakeAssertions()).session != nil)
        #expect(world.provider.violations.isEmpty)
    }
}
