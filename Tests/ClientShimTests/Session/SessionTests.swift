import JOSE
import Testing

@testable import ClientShim

@Suite struct SessionTests {
    @Test func `R-000-50 a session without a refresh token ends with its access token`()
        async throws
    {
        let world = try await World.signedIn(tokenResponse: ["scope": #""openid""#])
        #expect(world.authn.currentSession() != nil)
        world.clock.advance(seconds: 299)
        #expect(world.authn.currentSession() != nil)
        world.clock.advance(seconds: 1)
        #expect(world.authn.currentSession() == nil)
        #expect(try await world.get().status == 200)
        #expect(world.apiRequests.last?.header("Authorization").isEmpty == true)
    }

    @Test func `R-000-42 a refresh is due at thirty seconds before the end`() async throws {
        let world = try await World.signedIn()
        let session = try world.session
        world.clock.advance(seconds: 269)
        #expect(!session.needsRefresh())
        world.clock.advance(seconds: 1)
        #expect(session.needsRefresh())
        world.clock.advance(seconds: 10_000)
        #expect(session.needsRefresh())
    }

    @Test
    func `R-000-58 sign-out removes the session first, then revokes; keys and identities stay`()
        async throws
    {
        let world = try await World.signedIn()
        let keys = try world.keyStore.list()
        let refreshToken = try #require(try world.record?.refreshToken).expose()
        await world.authn.signOut()
        let form = try #require(world.provider.forms(.revocation).first)
        #expect(form["token"] == refreshToken)
        #expect(form["token_type_hint"] == "refresh_token")
        #expect(form["client_assertion"] != nil)
        #expect(world.provider.liveGrants == 0)
        #expect(world.authn.currentSession() == nil)
        #expect(try world.restarted().currentSession() == nil)
        #expect(try world.keyStore.list() == keys)
        #expect(try !world.store.names(prefix: "identity/").isEmpty)
    }

    @Test func `R-000-58 a sign-out that reaches nobody still signs out`() async throws {
        let world = try await World.signedIn()
        world.provider.plan(.revocation, [.loseRequest])
        await world.authn.signOut()
        #expect(try world.restarted().currentSession() == nil)
        await world.authn.signOut()
        #expect(world.provider.count(.revocation) == 1)
    }

    @Test func `R-000-58 a disk that does not let go signs out and revokes all the same`()
        async throws
    {
        let world = try await World.signedIn()
        let token = try #require(try world.record?.accessToken.expose())
        world.store.failRemovals(of: "session", times: 1)
        await world.authn.signOut()
        #expect(world.authn.currentSession() == nil)
        #expect(world.provider.count(.revocation) == 1)
        #expect(world.provider.liveGrants == 0)
        // The next look removes what the disk kept, and no request carries its token.
        #expect(try world.record?.accessToken.expose() == token)
        _ = try await world.get()
        #expect(world.apiRequests.last?.header("Authorization") == [])
        #expect(try world.record == nil)
        #expect(await world.signIn(with: FakeAssertions()).session != nil)
        #expect(try world.record != nil)
    }

    @Test func `R-100-13 the install key outlives sign-out and serves the next sign-in`()
        async throws
    {
        let world = try await World.signedIn()
        let jkt = try #require(try world.record?.dpopJkt)
        await world.authn.signOut()
        _ = await world.signIn(with: FakeAssertions())
        #expect(try world.record?.dpopJkt == jkt)
    }

    @Test func `R-100-15 a session of a key that is gone has ended, and a new key is made`()
        async throws
    {
        let world = try await World.signedIn()
        let jkt = try #require(try world.record?.dpopJkt)
        for label in try world.keyStore.list() where label.hasPrefix("dpop-") {
            try world.keyStore.delete(label: label)
        }
        #expect(try await world.get().status == 200)
        #expect(world.apiRequests.last?.header("Authorization").isEmpty == true)
        #expect(world.authn.currentSession() == nil)
        #expect(try world.record == nil)
        #expect(await world.signIn(with: FakeAssertions()).session != nil)
        #expect(try world.record?.dpopJkt != jkt)
    }

    @Test func `a record that is no session is no session`() async throws {
        let world = try await World()
        try world.store.replace("session", with: Array(#"{"grant_id":"x"}"#.utf8))
        #expect(try world.restarted().currentSession() == nil)
        #expect(try await world.get().status == 200)
    }

    @Test func `R-000-11 R-000-34 a session prints no token`() async throws {
        let world = try await World.signedIn()
        let session = try world.session
        let record = try #require(try world.record)
        var text = "\(session)"
        dump(session, to: &text)
        dump(record, to: &text)
        #expect(!text.contains(record.accessToken.expose()))
        #expect(!text.contains(try #require(record.refreshToken).expose()))
    }

    @Test func `authorize attaches the token for https only, with a proof for that request`()
        async throws
    {
        let world = try await World.signedIn()
        let session = try world.session
        let lines = try await session.authorize(method: "PUT", url: World.api + "?x=1")
        let claims = try #require(
            HTTPRequest(method: "PUT", url: World.api, headers: lines).proofClaims)
        #expect(claims["htm"]?.string == "PUT")
        #expect(claims["htu"]?.string == World.api)
        #expect(lines.map(\.name) == ["Authorization", "DPoP"])
        #expect(try await session.authorize(method: "GET", url: "http://api.example/").isEmpty)
        await world.authn.signOut()
        await #expect(throws: RefreshError.SignInRequired) {
            try await session.authorize(method: "GET", url: World.api)
        }
    }

    @Test func `R-000-48 what came back is judged as the helper would`() async throws {
        let world = try await World.signedIn()
        let session = try world.session
        let challenge = [#"DPoP error="use_dpop_nonce", algs="ES256""#]
        func observe(_ status: Int, _ fields: [String], _ nonce: String?) -> Bool {
            session.observeResponse(
                url: World.api, status: status, wwwAuthenticate: fields, dpopNonce: nonce)
        }
        #expect(observe(401, challenge, "n1"))
        #expect(!observe(401, challenge, "n1"))
        #expect(!observe(401, challenge, nil))
        #expect(!observe(403, challenge, "n2"))
        #expect(!observe(401, [#"Bearer error="use_dpop_nonce""#], "n3"))
        #expect(!observe(200, [], "n4"))
        let lines = try await session.authorize(method: "GET", url: World.api)
        let claims = HTTPRequest(method: "GET", url: World.api, headers: lines).proofClaims
        #expect(claims?["nonce"]?.string == "n4")
        let invalid = [#"Bearer realm="x", DPoP error="invalid_token""#]
        #expect(session.shouldRefreshAfter(status: 401, wwwAuthenticate: invalid))
        #expect(!session.shouldRefreshAfter(status: 403, wwwAuthenticate: invalid))
        #expect(!session.shouldRefreshAfter(status: 401, wwwAuthenticate: challenge))
    }
}
