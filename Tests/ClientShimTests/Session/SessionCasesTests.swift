import Dispatch
import JOSE
import Synchronization
import TestKit
import Testing

@testable import ClientShim

/// `cases.md`, group *session*: what no other suite shows of it.
@Suite struct SessionCasesTests {
    /// A second start of a signed-in app whose access token has ended, with a network that holds its refreshes.
    private struct Expired {
        let world: World
        let transport: HeldTransport
        let authn: Authn

        init() async throws {
            let assertions = FakeAssertions()
            world = try await World.signedIn(provider: assertions)
            world.clock.advance(seconds: 301)
            transport = HeldTransport(world.environment.transport)
            var environment = world.environment
            environment.transport = transport
            authn = try Authn(environment: environment)
            authn.setClientAssertionProvider(assertions)
            transport.hold { $0.isRefresh }
        }

        func call() -> Task<Int, any Error> {
            let authn = authn
            return Task {
                try await DPoPHTTP(authn).data(for: HTTPRequest(method: "GET", url: World.api))
                    .status
            }
        }

        func areWaiting(_ count: Int) async -> Bool {
            await eventually { authn.core.refreshes.waiting == count }
        }
    }

    /// cases.md "Single-flight under cancellation".
    @Test(arguments: 0..<5)
    func
        `R-000-52 fifty calls, the first and twenty others cancelled, one that comes last and one after: one refresh`(
            _ seed: Int
        ) async throws
    {
        var random = SeededRandom(seed: UInt64(seed))
        let app = try await Expired()
        var calls = [app.call()]
        await app.transport.held.wait()
        for _ in 1..<50 { calls.append(app.call()) }
        #expect(await app.areWaiting(50))
        let cancelled = Set([0] + (1..<50).shuffled(using: &random).prefix(20))
        for index in cancelled { calls[index].cancel() }
        #expect(await app.areWaiting(29))
        calls.append(app.call())
        #expect(await app.areWaiting(30))
        app.transport.letGo()
        for (index, call) in calls.enumerated() {
            if cancelled.contains(index) {
                await #expect(throws: DPoPHTTPError.connectionLost) { try await call.value }
            } else {
                #expect(try await call.value == 200)
            }
        }
        #expect(try await app.call().value == 200)
        #expect(app.world.provider.count(.refresh) == 1)
        #expect(app.world.provider.violations.isEmpty)
    }

    /// cases.md "Single-flight under cancellation".
    @Test func `R-000-52 the new tokens are stored even when every caller has gone`() async throws {
        let app = try await Expired()
        let before = try #require(try app.world.record)
        let calls = (0..<5).map { _ in app.call() }
        await app.transport.held.wait()
        #expect(await app.areWaiting(5))
        for call in calls { call.cancel() }
        for call in calls {
            await #expect(throws: DPoPHTTPError.connectionLost) { try await call.value }
        }
        app.transport.letGo()
        #expect(await eventually { (try? app.world.record)?.accessToken != before.accessToken })
        #expect(try await app.call().value == 200)
        #expect(app.world.provider.count(.refresh) == 1)
        #expect(app.world.provider.violations.isEmpty)
    }

    /// A store that takes its time over the session's record.
    private final class SlowStore: SecureStore, LockAnnouncing {
        let writes = EventTrail<String>()
        private let inner: FaultyStore
        private let gate = DispatchSemaphore(value: 0)

        init(_ inner: FaultyStore) { self.inner = inner }

        func letGo() { gate.signal() }

        func replace(_ name: String, with bytes: [UInt8]) throws(SecureStoreError) {
            if name == "session" {
                writes.append(name)
                // A thread of the SDK's own, which may block (R-100-04).
                gate.wait()
            }
            try inner.replace(name, with: bytes)
        }

        func read(_ name: String) throws(SecureStoreError) -> [UInt8]? { try inner.read(name) }
        func remove(_ name: String) throws(SecureStoreError) { try inner.remove(name) }
        func names(prefix: String) throws(SecureStoreError) -> [String] {
            try inner.names(prefix: prefix)
        }
        func tryLock(_ name: String) throws(SecureStoreError) -> (any StoreLock)? {
            try inner.tryLock(name)
        }
        func whenReleased(_ name: String) async { await inner.whenReleased(name) }
    }

    /// cases.md "Store before use". A write that fails: RefreshTests. A process that ends before or after the write:
    /// SimulationTests, at every write.
    @Test func `R-000-53 while the disk is slow nobody gets the new token, and then all do`()
        async throws
    {
        let world = try await World.signedIn()
        let old = try #require(try world.record).accessToken
        world.clock.advance(seconds: 301)
        let store = SlowStore(world.store)
        var environment = world.environment
        environment.store = store
        let authn = try Authn(environment: environment)
        authn.setClientAssertionProvider(FakeAssertions())
        let calls = (0..<3).map { _ in
            Task {
                try await DPoPHTTP(authn).data(for: HTTPRequest(method: "GET", url: World.api))
                    .status
            }
        }
        await store.writes.wait()
        // The answer is here, the write has begun: and no request has left.
        #expect(world.apiRequests.isEmpty)
        #expect(try world.record?.accessToken == old)
        store.letGo()
        for call in calls { #expect(try await call.value == 200) }
        let stored = try #require(try world.record).accessToken
        #expect(stored != old)
        #expect(
            world.apiRequests.allSatisfy {
                $0.header("Authorization") == ["DPoP \(stored.expose())"]
            })
        #expect(world.provider.count(.refresh) == 1)
    }

    /// cases.md "Token answer edge values".
    @Test func `a refresh that narrows the scope is taken at its word, and keeps the session`()
        async throws
    {
        let world = try await World.signedIn()
        world.provider.set { $0.tokenResponse = ["scope": #""openid""#] }
        try await world.session.refresh()
        #expect(try world.session.scope == "openid")
        try await world.session.refresh()
        #expect(world.provider.count(.refresh) == 2)
        #expect(world.provider.violations.isEmpty)
    }

    /// cases.md "Token answer edge values": what an answer is, its octets say.
    @Test(arguments: ["text/html", "application/json; charset=utf-16"])
    func `the content type of a token answer changes nothing`(_ type: String) async throws {
        let world = try await World.signedIn()
        var answer = FakeProvider.json(
            200, ["access_token": #""x""#, "token_type": #""DPoP""#, "refresh_token": #""""#])
        answer.headers = [HTTPHeader("Content-Type", type)]
        world.provider.plan(.refresh, [.answer(answer)])
        let before = try #require(try world.record)
        try await world.session.refresh()
        let after = try #require(try world.record)
        #expect(after.accessToken.expose() == "x")
        #expect(after.refreshToken == before.refreshToken)
        // Without `expires_in` it is used until an API says no.
        #expect(after.expiresAt == nil)
        world.clock.advance(seconds: 1_000_000)
        #expect(try await world.get().status == 200)
        #expect(world.provider.count(.refresh) == 1)
    }
}
