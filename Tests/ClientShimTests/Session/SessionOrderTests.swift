import JOSE
import Testing

@testable import ClientShim

/// What comes before what when a session begins, is refreshed and ends.
@Suite struct SessionOrderTests {
    /// A second start of the app whose calls to the token and revocation endpoints stand in the store's log, among its writes.
    private func noting(_ world: World) throws -> Authn {
        var environment = world.environment
        let (provider, store) = (world.provider, world.store)
        environment.transport = ScriptedTransport { request in
            for path in ["/token", "/revoke"] where request.url.hasSuffix(path) { store.note(path) }
            return await provider.answer(request)
        }
        return try Authn(environment: environment)
    }

    @Test func `R-000-58 the session is off the disk before its token is revoked`() async throws {
        let world = try await World.signedIn()
        let authn = try noting(world)
        let count = world.store.changes.count
        await authn.signOut()
        #expect(Array(world.store.changes[count...]) == ["-session", "/revoke"])
    }

    @Test func `R-000-35 the old refresh token is revoked once the new session is stored`()
        async throws
    {
        let world = try await World.signedIn()
        let old = try #require(try world.record?.refreshToken).expose()
        let authn = try noting(world)
        let count = world.store.changes.count
        let flow = authn.startSignInFlow(config: world.config)
        #expect(await world.drive(flow).session != nil)
        #expect(await eventually { world.provider.count(.revocation) == 1 })
        let steps = world.store.changes[count...].filter { !$0.hasPrefix("+identity/") }
        #expect(steps == ["/token", "+session", "/revoke"])
        let form = try #require(world.provider.forms(.revocation).first)
        #expect(form["token"] == old)
        #expect(form["token_type_hint"] == "refresh_token")
    }

    @Test func `R-000-36 a sign-in that cannot be stored leaves the old session and its grant`()
        async throws
    {
        let world = try await World.signedIn()
        let old = try #require(try world.record)
        world.store.failWrites(of: "session", times: 1)
        guard case .server = await world.signIn().failure else {
            Issue.record("no failure")
            return
        }
        #expect(try world.record == old)
        #expect(world.authn.currentSession() != nil)
        #expect(await eventually { world.provider.liveGrants == 1 })
        let revoked = world.provider.forms(.revocation).map { $0["token"] }
        #expect(!revoked.contains(old.refreshToken?.expose()))
        try await world.session.refresh()
        #expect(world.provider.violations.isEmpty)
    }

    @Test func `R-000-52 two processes that refresh at once make one request`() async throws {
        let world = try await World.signedIn()
        let (requests, isReleased) = (Counter(), Counter())
        var environment = world.environment
        let provider = world.provider
        environment.transport = ScriptedTransport { request in
            if request.url.hasSuffix("/token") {
                requests.increment()
                _ = await eventually { isReleased.value > 0 }
            }
            return await provider.answer(request)
        }
        let processes = [
            try Authn(environment: environment), try Authn(environment: environment),
        ]
        let refreshes = try processes.map { process in
            let session = try #require(process.currentSession())
            return Task { try await session.refresh() }
        }
        // One asks; the other is at the lock, or asks too, which is the fault.
        _ = await eventually { requests.value == 2 || world.store.waits(for: "refresh") > 0 }
        isReleased.increment()
        for refresh in refreshes { try await refresh.value }
        #expect(requests.value == 1)
        #expect(world.provider.violations.isEmpty)
        let record = try #require(try world.record)
        for process in processes {
            #expect(try await process.core.vault.load() == record)
            #expect(process.currentSession() != nil)
        }
    }

    @Test func `R-100-15 a session of a key with another thumbprint has ended`() async throws {
        let world = try await World.signedIn()
        let label = try #require(try world.keyStore.list().first { $0.hasPrefix("dpop-") })
        try world.keyStore.delete(label: label)
        _ = try world.keyStore.generate(label: label)
        let session = try world.session
        #expect(try await world.get().status == 200)
        #expect(world.apiRequests.last?.header("Authorization") == [])
        #expect(try world.record == nil)
        #expect(world.authn.currentSession() == nil)
        await #expect(throws: RefreshError.SignInRequired) { try await session.refresh() }
        #expect(world.provider.count(.refresh) == 0)
        #expect(await world.signIn(with: FakeAssertions()).session != nil)
        #expect(try world.record?.dpopJkt == world.keyStore.publicJWK(label: label)?.thumbprint)
    }

    @Test func `R-000-41 after a sign-out a request goes out unchanged`() async throws {
        let world = try await World.signedIn()
        _ = try await world.get()
        await world.authn.signOut()
        _ = try await world.get()
        #expect(world.apiRequests.map { $0.header("Authorization").count } == [1, 0])
        #expect(world.apiRequests.map { $0.header("DPoP").count } == [1, 0])
    }
}
