import JOSE
import Testing

@testable import ClientShim

@Suite struct RefreshTests {
    @Test
    func `R-000-51 R-000-53 a refresh carries proof and assertion and is stored before it is seen`()
        async throws
    {
        let world = try await World.signedIn()
        let before = try #require(try world.record)
        try await world.session.refresh()
        let after = try #require(try world.record)
        #expect(after.accessToken != before.accessToken)
        #expect(after.refreshToken != before.refreshToken)
        #expect(after.grantId == before.grantId)
        let form = try #require(world.provider.forms(.refresh).first)
        #expect(form["client_assertion"] != nil)
        #expect(world.provider.violations.isEmpty)
    }

    @Test func `R-000-57 the journal is written before the request and removed after the record`()
        async throws
    {
        let world = try await World.signedIn()
        let count = world.store.changes.count
        try await world.session.refresh()
        #expect(
            Array(world.store.changes[count...]) == [
                "+refresh-journal", "+session", "-refresh-journal",
            ])
        let journal = try #require(try? RefreshJournalProbe.text(world))
        #expect(!journal.contains("refresh-"))
    }

    @Test func `R-000-57 a refresh that an earlier process never finished is reported`()
        async throws
    {
        let world = try await World.signedIn()
        try RefreshJournal(store: world.store).open(Secret("spent"), at: 1)
        try await world.session.refresh()
        #expect(world.diagnostics.events.contains { $0.outcome == .refreshInterrupted })
        #expect(try world.store.read("refresh-journal") == nil)
    }

    @Test func `R-000-52 fifty callers make one request and get one result`() async throws {
        let world = try await World.signedIn()
        let session = try world.session
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { try await session.refresh() } }
            try await group.waitForAll()
        }
        #expect(world.provider.violations.isEmpty)
        // Callers that came after the first had finished found a fresh token by then.
        #expect(world.provider.liveGrants == 1)
    }

    @Test
    func `R-000-52 callers that wait share the answer, cancelled ones leave, and it is stored`()
        async throws
    {
        let answer = FirstAnswer<RefreshGate.Answer>()
        let (gate, executor) = (RefreshGate(), SDKExecutor())
        let runs = Counter()
        let call: @Sendable () async -> RefreshGate.Answer = {
            do throws(RefreshError) {
                return .success(
                    try await gate.refresh(on: executor) {
                        runs.increment()
                        return await answer.value()
                    })
            } catch {
                return .failure(error)
            }
        }
        let callers = (0..<50).map { _ in Task(operation: call) }
        #expect(await eventually { gate.waiting == 50 && runs.value == 1 })
        for caller in callers[0..<21] { caller.cancel() }
        for caller in callers[0..<21] { #expect(await caller.value == .failure(.Network)) }
        let world = try await World.signedIn()
        let record = try #require(try world.record)
        answer.fill(.success(record))
        for caller in callers[21...] { #expect(await caller.value == .success(record)) }
        #expect(runs.value == 1)
    }

    @Test func `R-000-52 a session another process has refreshed is taken as it is`() async throws {
        let world = try await World.signedIn()
        let seen = try #require(try world.record)
        let other = try world.restarted()
        other.setClientAssertionProvider(FakeAssertions())
        try await #require(other.currentSession()).refresh()
        let result = await Refresher(core: world.authn.core).run(seen: seen)
        #expect(try result.get().accessToken == world.record?.accessToken)
        #expect(world.provider.count(.refresh) == 1)
    }

    @Test func `R-000-54 invalid_grant ends the session and keeps keys and identities`()
        async throws
    {
        let world = try await World.signedIn()
        let keys = try world.keyStore.list()
        world.provider.plan(.refresh, [.answer(FakeProvider.error(400, "invalid_grant"))])
        let session = try world.session
        await #expect(throws: RefreshError.SignInRequired) { try await session.refresh() }
        #expect(world.authn.currentSession() == nil)
        #expect(try world.record == nil)
        #expect(try world.keyStore.list() == keys)
        #expect(try !world.store.names(prefix: "identity/").isEmpty)
    }

    static let kept: [(FakeProvider.Fault, RefreshError)] = [
        (.loseRequest, .Network), (.loseAnswer, .Network),
        (.answer(HTTPAnswer(status: 500)), .Server), (.answer(FakeProvider.busy(502)), .Server),
        (.answer(HTTPAnswer(status: 502, body: Array("<html>invalid_grant</html>".utf8))), .Server),
        (.answer(FakeProvider.busy(429, retryAfter: "3")), .Server),
        (.answer(FakeProvider.error(400, "invalid_client")), .Server),
        (.answer(FakeProvider.error(400, "INVALID_GRANT")), .Server),
        (.answer(FakeProvider.error(401, "invalid_grant")), .Server),
        (.answer(HTTPAnswer(status: 400)), .Server), (.answer(HTTPAnswer(status: 401)), .Server),
        (.answer(HTTPAnswer(status: 200)), .Server),
        (.answer(HTTPAnswer(status: 200, body: Array("\u{feff}{}".utf8))), .Server),
        (.answer(FakeProvider.json(200, ["token_type": #""DPoP""#])), .Server),
        (
            .answer(
                FakeProvider.json(200, ["access_token": #""x""#, "token_type": #""Bearer""#])),
            .Server
        ),
        (.answer(HTTPAnswer(status: 302)), .Server),
    ]

    /// cases.md "What ends a session"; of its last, another subject, flows.md R-000-56 says that it does.
    @Test(arguments: kept.indices)
    func `R-000-55 only invalid_grant ends a session; everything else keeps it`(
        _ index: Int
    ) async throws {
        let (fault, error) = Self.kept[index]
        let world = try await World.signedIn()
        let before = try world.record
        world.provider.plan(.refresh, [fault])
        let session = try world.session
        await #expect(throws: error) { try await session.refresh() }
        #expect(try world.record == before)
        #expect(world.authn.currentSession() == session)
        // While the old token is good, requests go on.
        #expect(try await world.get().status == 200)
        #expect(world.provider.count(.refresh) == 1)
    }

    @Test
    func
        `R-101-13 a confidential client without a provider refreshes unauthenticated and keeps its session`()
        async throws
    {
        let world = try await World.signedIn()
        world.authn.clearClientAssertionProvider()
        world.provider.plan(.refresh, [.answer(FakeProvider.error(401, "invalid_client"))])
        let session = try world.session
        await #expect(throws: RefreshError.Server) { try await session.refresh() }
        #expect(world.provider.forms(.refresh).first?["client_assertion"] == nil)
        #expect(world.authn.currentSession() == session)
    }

    @Test
    func `R-101-11 a provider registered at launch serves refresh and sign-out, until cleared`()
        async throws
    {
        let world = try await World.signedIn()
        let launched = try world.restarted()
        let assertions = FakeAssertions()
        launched.setClientAssertionProvider(assertions)
        try await #require(launched.currentSession()).refresh()
        #expect(world.provider.forms(.refresh).map { $0["client_assertion"] } == assertions.made)
        launched.clearClientAssertionProvider()
        try await #require(launched.currentSession()).refresh()
        #expect(world.provider.forms(.refresh).last?["client_assertion"] == nil)
        launched.setClientAssertionProvider(assertions)
        await launched.signOut()
        #expect(
            world.provider.forms(.revocation).map { $0["client_assertion"] }
                == [assertions.made.last])
        #expect(assertions.made.count == 2)
    }

    @Test func `R-101-05 no assertion for a refresh is a lost refresh`() async throws {
        let world = try await World.signedIn()
        world.authn.setClientAssertionProvider(FakeAssertions(failing: [1]))
        let session = try world.session
        await #expect(throws: RefreshError.Network) { try await session.refresh() }
        #expect(world.provider.count(.refresh) == 0)
        #expect(world.authn.currentSession() == session)
    }

    @Test func `R-000-56 another subject ends the session; no nonce is needed`() async throws {
        let world = try await World.signedIn()
        world.provider.set { $0.idTokenClaims = ["sub": #""somebody else""#] }
        let session = try world.session
        await #expect(throws: RefreshError.SignInRequired) { try await session.refresh() }
        #expect(world.authn.currentSession() == nil)
        #expect(try world.record == nil)
        #expect(world.provider.liveGrants == 0)
    }

    /// cases.md "Token answer edge values".
    @Test(arguments: ["absent", #""""#])
    func `a refresh answer without a refresh token keeps the old one`(
        _ value: String
    ) async throws {
        let world = try await World.signedIn()
        let before = try world.record
        world.provider.set { $0.tokenResponse = ["refresh_token": value] }
        try await world.session.refresh()
        #expect(try world.record?.refreshToken == before?.refreshToken)
        #expect(try world.record?.accessToken != before?.accessToken)
    }

    /// cases.md "Store before use".
    @Test
    func
        `R-000-53 a refreshed session the disk would not take is kept, written later, and nothing spent is sent again`()
        async throws
    {
        let world = try await World.signedIn()
        let before = try #require(try world.record)
        world.store.failWrites(of: "session", times: 2)
        let session = try world.session
        await #expect(throws: RefreshError.Server) { try await session.refresh() }
        #expect(try world.record == before)
        // The disk still refuses: nothing is sent, nothing is given out.
        await #expect(throws: RefreshError.Server) { try await session.refresh() }
        #expect(world.provider.count(.refresh) == 1)
        // It takes the pair now, before anything else happens.
        #expect(try await world.get().status == 200)
        #expect(try world.record?.accessToken != before.accessToken)
        let sent = world.apiRequests.first?.header("Authorization")
        #expect(sent == ["DPoP \(try #require(try world.record).accessToken.expose())"])
        #expect(world.provider.violations.isEmpty)
    }

    @Test func `R-000-54 a refresh that is refused after a new sign-in ends its own session alone`()
        async throws
    {
        let world = try await World.signedIn()
        let old = try world.session
        let record = try #require(try world.record)
        // The new sign-in revokes the old grant, so the refresh that is still out is refused.
        _ = await world.signIn(with: FakeAssertions())
        let new = try #require(try world.record)
        #expect(await eventually { world.provider.count(.revocation) == 1 })
        let stored = try await world.authn.core.vault.end(record)
        #expect(stored == new)
        #expect(try world.record == new)
        #expect(try world.session != old)
        #expect(try await world.authn.core.vault.end(new) == nil)
        #expect(try world.record == nil)
    }

    @Test func `a sign-out during a refresh is not undone by its answer`() async throws {
        let world = try await World.signedIn()
        let record = try #require(try world.record)
        _ = try await world.authn.core.vault.remove()
        #expect(try await world.authn.core.vault.update(record) == false)
        #expect(try world.record == nil)
    }

    /// cases.md "Token answer edge values".
    @Test(
        arguments: [
            ("0", Int64?(0)), ("-5", 0), (#""3600""#, 3600), ("3600.0", 3600), ("null", nil),
            ("absent", nil), ("1e12", 31_536_000), (#""soon""#, nil), ("1e400", nil),
        ])
    func `the edge values of expires_in`(_ text: String, _ lifetime: Int64?) async throws {
        let world = try await World.signedIn(tokenResponse: ["expires_in": text])
        #expect(try world.record?.expiresAt == lifetime.map { world.clock.now() + $0 })
    }

    /// cases.md "Token answer edge values".
    @Test func `a token that is expired at once leads to no endless refresh`() async throws {
        let world = try await World.signedIn(tokenResponse: ["expires_in": "0"])
        world.provider.set { $0.tokenResponse = ["expires_in": "0"] }
        #expect(try await world.get().status == 200)
        #expect(world.provider.count(.refresh) == 1)
    }
}

private enum RefreshJournalProbe {
    /// What a journal of that world's refresh token would hold.
    static func text(_ world: World) throws -> String {
        let store = InMemorySecureStore()
        let token = try #require(try world.record?.refreshToken)
        try RefreshJournal(store: store).open(token, at: 1)
        return String(decoding: try #require(try store.read("refresh-journal")), as: UTF8.self)
    }
}
