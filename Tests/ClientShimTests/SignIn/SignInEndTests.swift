import JOSE
import Synchronization
import Testing

@testable import ClientShim

@Suite struct SignInEndTests {
    @Test func `cancel while a frame is wanted aborts at the provider and ends the streams`()
        async throws
    {
        let world = try await World()
        let flow = world.authn.startSignInFlow(config: world.config)
        var last: SignInState?
        for await state in flow.stateStream() {
            last = state
            if case .awaitingFaceCapture = state { flow.cancel() }
        }
        #expect(last == .cancelled)
        #expect(await eventually { world.provider.aborts == ["user_cancelled"] })
        #expect(try world.restarted().currentSession() == nil)
        flow.cancel()
        flow.retry()
        #expect(await flow.stateStream().reduce(into: []) { $0.append($1) } == [.cancelled])
    }

    @Test func `the session's expiry ends a flow that waits for its user`() async throws {
        let world = try await World()
        let flow = world.authn.startSignInFlow(config: world.config)
        var last: SignInState?
        for await state in flow.stateStream() {
            last = state
            if case .awaitingFaceCapture(let wait) = state {
                #expect(wait.expiresAtUnix == world.clock.now() + 300)
                world.clock.advance(seconds: 301)
            }
        }
        #expect(last == .failed(reason: .expired))
    }

    @Test func `R-000-27 a parked proof can be sent until the session expires`() async throws {
        let world = try await World()
        world.provider.plan(
            .completion, (0..<12).map { _ in .answer(FakeProvider.busy(503)) })
        let states = await world.signIn(with: FakeAssertions(), retries: 12)
        #expect(states.parked.count == 12)
        #expect(states.session != nil)
    }

    @Test func `R-000-30 to R-000-32 tokens that fail a check are revoked and not stored`()
        async throws
    {
        let claims: [[String: String]] = [
            ["iss": #""https://other.example""#], ["aud": #""other""#], ["aud": #"["app","b"]"#],
            ["aud": #"["app"]"#, "azp": #""b""#], ["nonce": #""another""#], ["exp": "1799999999"],
            ["iat": "1800000061"], ["sub": #""""#], ["at_hash": #""AAAA""#],
            ["header": #"{"alg":"none"}"#], ["header": #"{"alg":"HS256"}"#], ["header": "{}"],
        ]
        for change in claims {
            let world = try await World()
            world.provider.set { $0.idTokenClaims = change }
            let states = await world.signIn(with: FakeAssertions())
            #expect(states.failure == .tokenRejected, "\(change)")
            #expect(try world.restarted().currentSession() == nil)
            #expect(!world.store.changes.contains("+session"))
            #expect(await eventually { world.provider.liveGrants == 0 }, "\(change)")
        }
    }

    @Test(arguments: ["none", "None", "NONE", "HS256", "HS384", "HS512", "hs256", ""])
    func `R-000-31 an ID token without a signature or with a shared key's is refused`(
        _ alg: String
    ) async throws {
        let world = try await World()
        world.provider.set { $0.idTokenClaims["header"] = #"{"alg":"\#(alg)"}"# }
        #expect(await world.signIn(with: FakeAssertions()).failure == .tokenRejected)
        #expect(try world.restarted().currentSession() == nil)
    }

    @Test(arguments: ["ES256", "PS256", "RS256", "EdDSA"])
    func `R-000-31 any signature of the provider's own is taken as it came, over TLS`(
        _ alg: String
    ) async throws {
        let world = try await World()
        world.provider.set { $0.idTokenClaims["header"] = #"{"alg":"\#(alg)"}"# }
        #expect(await world.signIn(with: FakeAssertions()).session != nil)
    }

    @Test(
        arguments: [
            ["token_type": #""Bearer""#], ["token_type": "absent"], ["id_token": "absent"],
            ["access_token": "\"\(SignInEndTests.accessToken(jkt: "other"))\""],
        ])
    func `R-000-32 an unbound token is never a silent downgrade`(
        _ response: [String: String]
    ) async throws {
        let world = try await World()
        world.provider.set { $0.tokenResponse = response }
        #expect(await world.signIn(with: FakeAssertions()).failure == .tokenRejected)
        #expect(try world.restarted().currentSession() == nil)
    }

    @Test(arguments: [#""dpop""#, #""DPOP""#, #""DPoP""#])
    func `any letter case of DPoP is DPoP`(_ type: String) async throws {
        let world = try await World()
        world.provider.set { $0.tokenResponse = ["token_type": type] }
        #expect(await world.signIn(with: FakeAssertions()).session != nil)
    }

    @Test func `R-000-34 without offline_access the refresh token is not kept`() async throws {
        let world = try await World()
        world.provider.set { $0.tokenResponse = ["scope": #""openid""#] }
        _ = await world.signIn(with: FakeAssertions())
        let record = try #require(
            world.store.read("session").flatMap { SessionRecord(bytes: $0) })
        #expect(record.refreshToken == nil)
    }

    @Test
    func
        `R-000-35 R-000-36 a new sign-in replaces the session and revokes the old; a failed one leaves it`()
        async throws
    {
        let world = try await World()
        let first = try #require(await world.signIn(with: FakeAssertions()).session)
        world.provider.plan(.start, [.answer(FakeProvider.error(400, "access_denied"))])
        #expect(await world.signIn(with: FakeAssertions()).failure == .accessDenied)
        #expect(world.authn.currentSession() == first)
        let second = try #require(await world.signIn(with: FakeAssertions()).session)
        #expect(second != first)
        #expect(world.authn.currentSession() == second)
        #expect(await eventually { world.provider.count(.revocation) == 1 })
        #expect(await eventually { world.provider.liveGrants == 1 })
    }

    @Test func `R-000-33 a session that cannot be stored is no sign-in, and its grant is revoked`()
        async throws
    {
        let world = try await World()
        world.store.failWrites(of: "session", times: 1)
        guard case .server = await world.signIn(with: FakeAssertions()).failure else {
            Issue.record("no failure")
            return
        }
        #expect(world.provider.liveGrants == 0)
        #expect(try world.restarted().currentSession() == nil)
    }

    @Test func `R-101-10 R-101-12 the flow's provider becomes the registered one, or none does`()
        async throws
    {
        let world = try await World()
        _ = await world.signIn(with: FakeAssertions())
        #expect(world.authn.core.provider != nil)
        _ = await world.signIn()
        #expect(world.authn.core.provider == nil)
    }

    @Test func `R-100-70 no secret is in any state, failure or diagnostic`() async throws {
        let world = try await World()
        let assertions = FakeAssertions()
        var text = ""
        let states = await world.signIn(with: assertions)
        dump(states, to: &text)
        dump(world.diagnostics.events, to: &text)
        print(states, world.authn.currentSession() as Any, to: &text)
        let secrets =
            assertions.made
            + world.provider.state.withLock { state in
                state.forms.flatMap { form in
                    ["code", "code_verifier", "auth_session", "ceremony_response", "nonce"]
                        .compactMap { form.form[$0] }
                } + state.grants.values.flatMap { [$0.accessToken, $0.refreshToken] }
                    + [state.faceToken] + Array(state.proofs)
            }
        #expect(secrets.count > 15)
        for secret in secrets { #expect(!text.contains(secret)) }
    }

    static func accessToken(jkt: String) -> String {
        [#"{"alg":"ES256"}"#, #"{"cnf":{"jkt":"\#(jkt)"}}"#, "s"]
            .map { Base64URL.encode($0.utf8) }.joined(separator: ".")
    }
}
