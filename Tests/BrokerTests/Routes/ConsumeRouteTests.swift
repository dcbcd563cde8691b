import AssertionMint
import JOSE
import SocketServer
import Testing

@testable import Broker

/// `POST /v1/assertions/consume` over real sockets.
@Suite struct ConsumeRouteTests {
    static let token = "tb_consumer"
    static let now: Int64 = 1_800_000_000

    /// Two clients of `acme` and one of `rival`, with their keys at hand.
    struct World: Sendable {
        let key: PrivateKey
        let rivalKey: PrivateKey
        let settings: ClientSettings

        init(_ members: String = "") throws {
            key = try PrivateKey.generate(.ES256)
            rivalKey = try PrivateKey.generate(.ES256)
            settings = try Sample.settings(
                issuers: [Sample.issuer, "https://idp.example/t2"], members)
        }

        func directory(
            revision: Int64 = 0, blocks: [Block] = [], isRevoked: Bool = false,
            key: PrivateKey? = nil
        ) throws -> Directory {
            try Sample.directory(
                revision: revision,
                [
                    Sample.client("app", settings: settings, key: key ?? self.key),
                    Sample.client("rivals", tenant: "rival", settings: settings, key: rivalKey),
                ],
                tokens: [
                    Sample.token(token, scopes: [.consume], isRevoked: isRevoked, id: "t1"),
                    Sample.token("tb_both", scopes: [.mint, .consume]),
                    Sample.token("tb_mint"), Sample.token("tb_none", scopes: []),
                    Sample.token("tb_expired", scopes: [.consume], expiresAt: 1_700_000_000),
                    Sample.token("tb_rival", tenant: "rival", scopes: [.consume]),
                ], blocks: blocks)
        }

        /// An assertion as the broker itself would make it.
        func assertion(
            client: String = "app", key: PrivateKey? = nil, audience: String = Sample.issuer,
            jti: JTI? = nil, at now: Int64
        ) throws -> String {
            let key = key ?? (client == "rivals" ? rivalKey : self.key)
            let signer = AssertionSigner(
                clientId: try Sample.clientId(client), key: key, kid: key.publicJWK.thumbprint,
                profile: settings.profile)
            return try signer.assertion(
                audience: try #require(Issuer(audience)),
                dpopJkt: try #require(DpopJkt(Sample.jkt)), jti: try jti ?? JTI.random(at: now),
                times: signer.times(now: now)
            ).expose()
        }
    }

    let world: World

    init() throws { world = try World() }

    func assertion() throws -> String { try world.assertion(at: WallClock.system.seconds) }

    func code(_ broker: TestBroker, _ call: ConsumeCall) async throws -> String {
        let response = try await broker.send(call)
        return "\(response.status) \(response.code ?? "")"
    }

    // MARK: Accepted

    @Test func `the first use is told what the assertion says, the second that it was used`()
        async throws
    {
        let broker = try await TestBroker(try world.directory())
        let (jti, now) = (try JTI.random(at: WallClock.system.seconds), WallClock.system.seconds)
        let call = ConsumeCall(try world.assertion(jti: jti, at: now), token: Self.token)
        let first = try await broker.send(call)
        #expect(first.status == 200)
        #expect(first.first("content-type") == "application/json")
        #expect(first.first("cache-control") == "no-store")
        let body = try first.json()
        #expect(
            (body.members ?? []).map(\.name)
                == ["client_id", "jti", "audience", "issued_at", "expires_at", "dpop_jkt"])
        #expect(body["client_id"]?.string == "app")
        #expect(body["jti"]?.string == jti.rawValue)
        #expect(body["audience"]?.string == Sample.issuer)
        #expect(body["issued_at"]?.integer == now)
        #expect(body["expires_at"]?.integer == now + 60)
        #expect(body["dpop_jkt"]?.string == Sample.jkt)
        for _ in 0..<2 {
            let again = try await broker.send(call)
            #expect(again.status == 409)
            #expect(again.code == "already_used")
            #expect(again.first("cache-control") == "no-store")
        }
    }

    @Test func `an assertion that was minted here is consumed, once, and minting goes on`()
        async throws
    {
        let broker = try await TestBroker(try world.directory())
        let minted = try await broker.send(.token("tb_both"))
        let assertion = try #require(try minted.json()["client_assertion"]?.string)
        let call = ConsumeCall(assertion, token: "tb_both") {
            $0.audience = Sample.issuer
            $0.type = ConsumeRequest.assertionType
        }
        let used = try await broker.send(call)
        #expect(used.status == 200)
        #expect(try used.json()["jti"]?.string == (try minted.json()["jti"]?.string))
        #expect(try await code(broker, call) == "409 already_used")
        #expect(try await broker.send(.token("tb_both")).status == 200)
    }

    @Test func `without binding there is no dpop_jkt`() async throws {
        let world = try World("\"bind_jkt\":false")
        let broker = try await TestBroker(try world.directory())
        let assertion = try world.assertion(at: WallClock.system.seconds)
        let response = try await broker.send(ConsumeCall(assertion, token: Self.token))
        #expect(response.status == 200)
        #expect(try response.json()["dpop_jkt"] == nil)
    }

    @Test func `a jti is its client's own: equal ones of two clients count apart`() async throws {
        let broker = try await TestBroker(try world.directory())
        let (jti, now) = (try JTI.random(at: WallClock.system.seconds), WallClock.system.seconds)
        let own = try world.assertion(jti: jti, at: now)
        let rivals = try world.assertion(client: "rivals", jti: jti, at: now)
        #expect(try await code(broker, ConsumeCall(rivals, token: "tb_rival")) == "200 ")
        #expect(try await code(broker, ConsumeCall(own, token: Self.token)) == "200 ")
    }

    @Test func `an assertion is judged by the broker's clock`() async throws {
        let clock = WallClock { Self.now * 1_000_000 + 999_999 }
        let broker = try await TestBroker(
            try world.directory(), clock: clock,
            makeStore: { lane, _ in
                StubStore(lane, uses: { _ in .consumed }) { _ in .init(verdict: .stale) }
            })
        for (age, expected) in [
            (59, "200 "), (60, "400 invalid_client_assertion"), (0, "200 "), (-10, "200 "),
            (-60, "200 "), (-61, "400 invalid_client_assertion"),
        ] as [(Int64, String)] {
            let assertion = try world.assertion(at: Self.now - age)
            #expect(try await code(broker, ConsumeCall(assertion, token: Self.token)) == expected)
        }
    }

    // MARK: Refused

    @Test(
        arguments: [
            ("tb_mint", "403 caller_not_allowed"), ("tb_none", "403 caller_not_allowed"),
            ("tb_unknown", "401 caller_unauthenticated"),
            ("tb_expired", "401 caller_unauthenticated"),
            (nil, "401 caller_unauthenticated"), ("tb_rival", "400 invalid_client_assertion"),
        ] as [(String?, String)])
    func `it takes a good token of the scope consume and of the client's tenant`(
        token: String?, expected: String
    ) async throws {
        let broker = try await TestBroker(try world.directory())
        let assertion = try assertion()
        #expect(try await code(broker, ConsumeCall(assertion, token: token)) == expected)
        #expect(try await code(broker, ConsumeCall(assertion, token: Self.token)) == "200 ")
    }

    @Test func `bad tokens count as failed authentications, and a good one still passes`()
        async throws
    {
        let settings = LimitSettings(burst: 2, rate: 1, per: 3600)
        let broker = try await TestBroker(
            try world.directory(), failures: FailedAuthentications(settings))
        let bad = ConsumeCall("x", token: "tb_unknown")
        for _ in 0..<2 { #expect(try await code(broker, bad) == "401 caller_unauthenticated") }
        let limited = try await broker.send(bad)
        #expect(limited.status == 429)
        #expect(try limited.json()["policy"]?.string == "failed_authentication")
        #expect(
            try await code(broker, ConsumeCall("x", token: "tb_mint"))
                == "403 caller_not_allowed", "a good token is no failure")
        #expect(try await code(broker, ConsumeCall(try assertion(), token: Self.token)) == "200 ")
    }

    @Test func `a 401 asks for a token only, a 403 names the scope`() async throws {
        let broker = try await TestBroker(try world.directory())
        let none = try await broker.send(ConsumeCall("x", token: nil))
        #expect(none.all("www-authenticate") == ["Bearer realm=\"broker\""])
        let other = try await broker.send(ConsumeCall("x", token: "tb_mint"))
        #expect(
            other.all("www-authenticate") == [
                "Bearer realm=\"broker\", error=\"insufficient_scope\", scope=\"consume\""
            ])
        var proven = ConsumeCall("x", token: nil)
        proven.set("DPoP", try broker.proof(try Install()))
        #expect(try await code(broker, proven) == "401 caller_unauthenticated")
    }

    @Test func `the token is judged before the body`() async throws {
        let broker = try await TestBroker(try world.directory())
        let call = ConsumeCall("", token: "tb_unknown") { $0.body = "{" }
        #expect(try await code(broker, call) == "401 caller_unauthenticated")
    }

    /// Every way to be not acceptable has the same answer, so that a token learns nothing of other tenants.
    @Test func `all that is not acceptable reads the same`() async throws {
        let now = WallClock.system.seconds
        let jkt = try #require(DpopJkt(Sample.jkt))
        let blocked = try world.directory(blocks: [Block(jkt: jkt, client: nil)])
        let broker = try await TestBroker(try world.directory())
        let stranger = try PrivateKey.generate(.ES256)
        let good = try world.assertion(at: now)
        let cases: [(TestBroker, ConsumeCall)] = [
            (broker, ConsumeCall("", token: Self.token)),
            (broker, ConsumeCall("a.b.c", token: Self.token)),
            (broker, ConsumeCall(good + "x", token: Self.token)),
            (broker, ConsumeCall(String(repeating: "a", count: 9000), token: Self.token)),
            (
                broker,
                ConsumeCall(try world.assertion(key: stranger, at: now), token: Self.token)
            ),
            (
                broker,
                ConsumeCall(try world.assertion(client: "nobody", at: now), token: Self.token)
            ),
            (
                broker,
                ConsumeCall(try world.assertion(client: "rivals", at: now), token: Self.token)
            ),
            (broker, ConsumeCall(good, token: Self.token) { $0.audience = "https://idp.example" }),
            (
                broker,
                ConsumeCall(good, token: Self.token) { $0.audience = "https://idp.example/t2" }
            ),
            (
                broker,
                ConsumeCall(
                    try world.assertion(audience: "https://evil.example", at: now),
                    token: Self.token)
            ),
            (broker, ConsumeCall(try world.assertion(at: now - 61), token: Self.token)),
            (broker, ConsumeCall(try broker.proof(try Install()), token: Self.token)),
            (try await TestBroker(blocked), ConsumeCall(good, token: Self.token)),
        ]
        var answers: Set<String> = []
        for (broker, call) in cases {
            let response = try await broker.send(call)
            #expect(response.status == 400)
            let id = try #require(try response.json()["request_id"]?.string)
            let headers = response.headers.filter { $0.name != "date" }.map { "\($0)" }
            answers.insert(response.text.replacing(id, with: "") + headers.joined())
        }
        #expect(answers.count == 1)
        #expect(try await code(broker, ConsumeCall(good, token: Self.token)) == "200 ")
    }

    @Test func `what is not the JSON that was asked for is named`() async throws {
        let broker = try await TestBroker(try world.directory())
        let good = try assertion()
        for body in [
            "{", "[]", "{}", "{\"client_assertion\":7}",
            "{\"client_assertion\":\"\(good)\",\"client_assertion\":\"\(good)\"}",
            "{\"client_assertion\":\"\(good)\",\"audience\":[\"\(Sample.issuer)\"]}",
            "{\"client_assertion\":\"\(good)\",\"client_assertion_type\":\"saml\"}",
        ] {
            let call = ConsumeCall("", token: Self.token) { $0.body = body }
            #expect(try await code(broker, call) == "400 invalid_request")
        }
        let text = ConsumeCall(good, token: Self.token) { $0.set("Content-Type", "text/plain") }
        #expect(try await code(broker, text) == "415 unsupported_media_type")
        let large = ConsumeCall("", token: Self.token) {
            $0.body = String(repeating: " ", count: ConsumeRequest.maximumLength + 1)
        }
        #expect(try await code(broker, large) == "413 content_too_large")
        #expect(try await code(broker, ConsumeCall(good, token: Self.token)) == "200 ")
    }

    // MARK: Racing, changing, failing

    @Test func `32 racing calls: exactly one is the first`() async throws {
        let broker = try await TestBroker(try world.directory())
        let assertion = try assertion()
        let statuses = try await atOnce(32) { _ in
            try await broker.send(ConsumeCall(assertion, token: Self.token)).status
        }
        #expect(statuses.count { $0 == 200 } == 1)
        #expect(statuses.count { $0 == 409 } == 31)
    }

    @Test func `a revoked token, a removed key and a block act on the next call`() async throws {
        let jkt = try #require(DpopJkt(Sample.jkt))
        for change in [
            try world.directory(revision: 1, isRevoked: true),
            try world.directory(revision: 1, key: try PrivateKey.generate(.ES256)),
            try world.directory(
                revision: 1, blocks: [Block(jkt: jkt, client: try Sample.clientId())]),
        ] {
            let broker = try await TestBroker(try world.directory())
            #expect(
                try await code(broker, ConsumeCall(try assertion(), token: Self.token)) == "200 ")
            let assertion = try assertion()
            broker.declare(change)
            let response = try await broker.send(ConsumeCall(assertion, token: Self.token))
            #expect([400, 401].contains(response.status))
            broker.declare(try world.directory(revision: 2))
            // Nothing was burnt by the refusal. The broker finds out with its next stale batch.
            let install = try Install().jkt
            _ = try await broker.send(.token("tb_both") { $0.dpopJkt = install })
            #expect(try await code(broker, ConsumeCall(assertion, token: Self.token)) == "200 ")
        }
    }

    @Test(arguments: [
        StoreFault.notConnected, .overloaded, .waitedTooLong, .timedOut, .connectionLost,
        .refused(sqlState: "23505"), .clockSkew, .malformedRecord, .unexpectedAnswer, .closed,
    ])
    func `a store that cannot burn accepts nothing`(fault: StoreFault) async throws {
        let broker = try await TestBroker(
            try world.directory(),
            makeStore: { lane, _ in
                StubStore(lane, uses: { _ in .unavailable(fault) }) { _ in
                    .init(verdict: .unavailable(fault))
                }
            })
        let response = try await broker.send(ConsumeCall(try assertion(), token: Self.token))
        #expect(response.status == 503)
        #expect(response.code == "unavailable")
        #expect(response.first("retry-after") == "1")
        #expect(!response.text.contains("23505"))
    }

    @Test func `before a declaration is loaded, and while it never settles, it is 503`()
        async throws
    {
        let call = ConsumeCall(try assertion(), token: Self.token)
        let empty = try await TestBroker(try world.directory(), isLoaded: false)
        #expect(try await code(empty, call) == "503 unavailable")
        let restless = try await TestBroker(
            try world.directory(),
            makeStore: { lane, _ in
                StubStore(lane, uses: { _ in .stale }) { _ in .init(verdict: .stale) }
            })
        #expect(try await code(restless, call) == "503 unavailable")
    }

    @Test func `signature checks in vain are limited by token, and cheap refusals are not`()
        async throws
    {
        let policy = RatePolicy(
            name: "refused_assertions", burst: 3, stepMicroseconds: 3_600_000_000)
        let broker = try await TestBroker(
            try world.directory(), checks: VainChecks(policy: policy))
        for _ in 0..<5 {
            #expect(
                try await code(broker, ConsumeCall("a.b.c", token: Self.token))
                    == "400 invalid_client_assertion")
        }
        let good = try assertion()
        #expect(try await code(broker, ConsumeCall(good, token: Self.token)) == "200 ")
        #expect(try await code(broker, ConsumeCall(good, token: Self.token)) == "409 already_used")
        let forged = try world.assertion(
            key: try PrivateKey.generate(.ES256), at: WallClock.system.seconds)
        // The kid must be the client's, or there is no signature to check.
        let parts = forged.split(separator: ".").map(String.init)
        let own = try assertion().split(separator: ".").map(String.init)
        let unsigned = [own[0], own[1], parts[2]].joined(separator: ".")
        for _ in 0..<2 {
            #expect(
                try await code(broker, ConsumeCall(unsigned, token: Self.token))
                    == "400 invalid_client_assertion")
        }
        let limited = try await broker.send(ConsumeCall(try assertion(), token: Self.token))
        #expect(limited.status == 429)
        #expect(limited.code == "rate_limited")
        #expect(try limited.json()["policy"]?.string == "refused_assertions")
        #expect(limited.first("retry-after").flatMap { Int64($0) } ?? 0 > 3500)
        #expect(limited.first("ratelimit-policy") == "\"refused_assertions\";q=3;w=10800")
        let other = ConsumeCall(try assertion(), token: "tb_both")
        #expect(try await code(broker, other) == "200 ")
    }

    // MARK: The log

    @Test func `one event a call, each as the schema says, and never the assertion`() async throws {
        let broker = try await TestBroker(try world.directory())
        let good = try assertion()
        let stranger = try world.assertion(
            client: "rivals", at: WallClock.system.seconds)
        let calls: [(ConsumeCall, String?)] = [
            (ConsumeCall(good, token: Self.token), nil),
            (ConsumeCall(good, token: Self.token), "already_used"),
            (ConsumeCall(stranger, token: Self.token), "invalid_client_assertion"),
            (ConsumeCall("canary.a.b", token: Self.token), "invalid_client_assertion"),
            (ConsumeCall(good, token: "tb_mint"), "caller_not_allowed"),
            (ConsumeCall(good, token: "tb_canary"), "caller_unauthenticated"),
            (ConsumeCall(good, token: nil), "caller_unauthenticated"),
            (ConsumeCall("", token: Self.token) { $0.body = "{" }, "invalid_request"),
            (
                ConsumeCall(good, token: Self.token) { $0.set("Content-Type", "text/canary") },
                "unsupported_media_type"
            ),
        ]
        for (call, _) in calls { _ = try await broker.send(call) }
        let events = try await broker.log.events("assertion.")
        #expect(events.map { $0["code"]?.string } == calls.map(\.1))
        #expect(events[0]["event"]?.string == "assertion.consumed")
        #expect(
            events.dropFirst().allSatisfy { $0["event"]?.string == "assertion.consume_refused" })
        for event in events.prefix(2) {
            #expect(event["tenant"]?.string == "acme")
            #expect(event["client_id"]?.string == "app")
            #expect(event["jkt"]?.string == Sample.jkt)
            #expect(event["token_id"]?.string == "t1")
            #expect(event["alg"]?.string == "ES256")
            #expect(event["kid"]?.string == world.key.publicJWK.thumbprint)
            #expect(event["jti"]?.string?.utf8.count == 24)
        }
        #expect(events[2]["cause"]?.string == "the client of another tenant")
        #expect(events[2]["jti"] == nil, "what was not verified names nothing")
        #expect(events[4]["cause"]?.string == "token without the scope consume")
        let text = try await broker.log.text()
        for part in good.split(separator: ".") + stranger.split(separator: ".") {
            #expect(!text.contains(part))
        }
        #expect(!text.contains("canary"))
        #expect(!text.contains(Self.token))
        try await LogSchema.check(try await broker.log.lines())
    }
}
