import AssertionMint
import JOSE
import SocketServer
import Synchronization
import Testing

@testable import Broker

/// What leaves after which verdict of the store.
@Suite struct CommitTests {
    static let token = "tb_good"

    func directory(revision: Int64 = 0, blocks: [Block] = [], isRevoked: Bool = false) throws
        -> Directory
    {
        try Sample.directory(
            revision: revision, [Sample.client(settings: try Sample.settings())],
            tokens: [Sample.token(Self.token, isRevoked: isRevoked)], blocks: blocks)
    }

    func isUnavailable(_ response: WireResponse) -> Bool {
        response.status == 503 && response.code == "unavailable"
            && response.first("retry-after") == "1" && !response.text.contains("client_assertion")
    }

    @Test(arguments: [
        StoreFault.notConnected, .overloaded, .waitedTooLong, .timedOut, .connectionLost,
        .refused(sqlState: "23505"), .clockSkew, .jtiTaken, .malformedRecord, .unexpectedAnswer,
        .closed,
    ])
    func `a store that cannot commit issues nothing, though it was signed`(fault: StoreFault)
        async throws
    {
        let broker = try await TestBroker(
            try directory(),
            makeStore: { lane, _ in
                StubStore(lane) { _ in .init(verdict: .unavailable(fault)) }
            })
        let response = try await broker.send(.token(Self.token))
        #expect(isUnavailable(response))
        #expect(!response.text.contains("23505"))
        let event = try #require(try await broker.log.events("assertion.").first)
        #expect(event["event"]?.string == "assertion.refused")
        #expect(event["retry_after"]?.integer == 1)
        #expect(event["cause"]?.string?.isEmpty == false)
        #expect(event["jti"] == nil, "a jti that was not committed names nothing")
    }

    @Test func `what was recorded but never signed does not leave`() async throws {
        let broker = try await TestBroker(
            try directory(),
            makeStore: { lane, _ in
                StubStore(lane) { _ in
                    .init(verdict: .recorded(remaining: 1, resetAfterMicroseconds: 0), signs: false)
                }
            })
        #expect(isUnavailable(try await broker.send(.token(Self.token))))
    }

    @Test func `a limit that refuses leaves nothing, whichever it is`() async throws {
        for name in ["install", "client", "tenant"] {
            let policy = RatePolicy(name: name, burst: 5, stepMicroseconds: 1_000_000)
            let broker = try await TestBroker(
                try directory(),
                makeStore: { lane, _ in
                    StubStore(lane) { _ in
                        .init(verdict: .limited(policy: policy, retryAfterMicroseconds: 1_000_001))
                    }
                })
            let response = try await broker.send(.token(Self.token))
            #expect(response.status == 429)
            #expect(response.first("retry-after") == "2")
            #expect(response.first("ratelimit-policy") == "\"\(name)\";q=5;w=5")
            #expect(try response.json()["policy"]?.string == name)
            #expect(!response.text.contains("client_assertion"))
        }
    }

    @Test func `a block acts on the next mint, though the broker did not know it yet`() async throws
    {
        let broker = try await TestBroker(try directory())
        #expect(try await broker.send(.token(Self.token)).status == 200)
        let jkt = try #require(DpopJkt(Sample.jkt))
        broker.declare(try directory(revision: 1, blocks: [Block(jkt: jkt, client: nil)]))
        #expect(try await broker.send(.token(Self.token)).code == "install_blocked")
        #expect(broker.database.jtis.count == 1)
        // Lifting it is known with the next change that a mint, or the look once a second, comes upon.
        broker.declare(try directory(revision: 2))
        let other = try Install().jkt
        #expect(try await broker.send(.token(Self.token) { $0.dpopJkt = other }).status == 200)
        #expect(try await broker.send(.token(Self.token)).status == 200)
    }

    @Test func `a revoked token is refused at the next mint`() async throws {
        let broker = try await TestBroker(try directory())
        #expect(try await broker.send(.token(Self.token)).status == 200)
        broker.declare(try directory(revision: 1, isRevoked: true))
        let response = try await broker.send(.token(Self.token))
        #expect(response.code == "caller_unauthenticated")
        let events = try await broker.log.events("assertion.")
        #expect(events.count == 2, "one event a mint, though it was decided twice")
    }

    @Test func `many mints on an outdated declaration are all decided again`() async throws {
        let broker = try await TestBroker(try directory())
        broker.declare(try directory(revision: 7))
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<40 {
                group.addTask { try await broker.send(.token(Self.token)).status }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.allSatisfy { $0 == 200 || $0 == 429 })
        #expect(statuses.count { $0 == 200 } == broker.database.jtis.count)
        #expect(statuses.contains(200))
    }

    @Test func `a declaration that never settles ends in 503, not in a loop`() async throws {
        let counter = Counter()
        let broker = try await TestBroker(
            try directory(),
            makeStore: { lane, _ in
                StubStore(lane) { _ in
                    counter.add()
                    return .init(verdict: .stale, signs: false)
                }
            })
        #expect(isUnavailable(try await broker.send(.token(Self.token))))
        #expect(counter.value == 3)
        let event = try #require(try await broker.log.events("assertion.refused").first)
        #expect(event["cause"]?.string == "unsettled")
    }

    @Test func `before a declaration was loaded everything but liveness is 503`() async throws {
        let broker = try await TestBroker(try directory(), isLoaded: false)
        #expect(isUnavailable(try await broker.send(.token(Self.token))))
        let keys = try await broker.send("GET", "/v1/clients/app/jwks.json")
        #expect(keys.status == 503)
        #expect(keys.first("retry-after") == "1")
        #expect(try await broker.send("GET", "/healthz").status == 200)
    }

    @Test func `a client whose key cannot be used is 503, and the others go on`() async throws {
        let good = try Sample.client("good", settings: try Sample.settings())
        let settings = try Sample.settings()
        let bad = RegisteredClient(
            id: try Sample.clientId("bad"), tenant: try Sample.tenantId(), settings: settings,
            tenantSettings: try Sample.tenantSettings(), signing: .unusable("file:/canary: gone"),
            publicKeys: [])
        let broker = try await TestBroker(
            try Sample.directory([good, bad], tokens: [Sample.token(Self.token)]))
        let response = try await broker.send(.token(Self.token) { $0.clientId = "bad" })
        #expect(isUnavailable(response))
        #expect(!response.text.contains("canary"))
        #expect(try await broker.send(.token(Self.token) { $0.clientId = "good" }).status == 200)
    }

    @Test func `the signature is made with the jti and times that were recorded`() async throws {
        let records = Records()
        let broker = try await TestBroker(
            try directory(),
            makeStore: { lane, _ in
                StubStore(lane) { record in
                    records.add(record)
                    return .init(verdict: .recorded(remaining: 1, resetAfterMicroseconds: 0))
                }
            })
        let claims = try MintRouteTests.claims(try await broker.send(.token(Self.token))).claims
        let record = try #require(records.all.first)
        #expect(claims["jti"]?.string == record.jti)
        #expect(claims["iat"]?.integer == record.issuedAt)
        #expect(claims["exp"]?.integer == record.expiresAt)
        #expect(record.jti.utf8.count == 24)
        #expect(record.tenantId == "acme" && record.clientId == "app")
        #expect(record.dpopJkt == Sample.jkt)
        #expect(record.proof == nil)
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)
        func add() { count.withLock { $0 += 1 } }
        var value: Int { count.withLock { $0 } }
    }

    private final class Records: Sendable {
        private let list = Mutex<[MintRecord]>([])
        func add(_ record: MintRecord) { list.withLock { $0.append(record) } }
        var all: [MintRecord] { list.withLock { $0 } }
    }
}
