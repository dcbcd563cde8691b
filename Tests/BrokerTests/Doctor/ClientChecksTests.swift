import AssertionMint
import JOSE
import Testing

@testable import Broker

/// What is said of clients, from facts.
@Suite struct ClientChecksTests {
    static let now: Int64 = 1_800_000_000

    private func client(
        _ id: String = "app", settings: ClientSettings? = nil, tenantLimit: LimitSettings? = nil,
        keys: [KeyFacts] = [], secret: SecretFacts? = nil
    ) throws -> ClientFacts {
        ClientFacts(
            id: try Sample.clientId(id), tenant: try Sample.tenantId(),
            settings: try settings ?? Sample.settings(), tenantLimit: tenantLimit, keys: keys,
            secret: secret)
    }

    private func key(
        _ state: KeyState = .active, trial: KeyTrial = .mints([]), kid: String = "k",
        jwk: PublicJWK? = nil
    ) throws -> KeyFacts {
        var jwk = try jwk ?? PrivateKey.generate(.ES256).publicJWK
        jwk.kid = kid
        return KeyFacts(
            key: Declaration.Key(kid: kid, uri: "file:/k.pem", state: state, publicJWK: jwk),
            age: 0, trial: trial)
    }

    private func shared(
        tokens: [APIToken] = [], nonceAges: [Int64] = [3600],
        overrides: [LimitOverride.Declared] = [], takesCertificates: Bool? = nil
    ) throws -> SharedFacts {
        let url = try #require(HTTPTargetURI("https://broker.example"))
        return SharedFacts(
            tokens: tokens, endlessTokens: [], nonceAges: nonceAges, overrides: overrides,
            now: Self.now,
            server: takesCertificates.map { ServerFacts(publicURL: url, takesCertificates: $0) })
    }

    private func goodToken() throws -> APIToken {
        try Sample.token("a", expiresAt: Self.now + 90 * 86_400)
    }

    // MARK: Keys

    @Test func `a key that signs is ok, whatever its state`() throws {
        let keys = [
            try key(), try key(.pending, trial: .signs, kid: "n"),
            try key(.retiring, trial: .signs, kid: "o"),
        ]
        #expect(KeyChecks.findings(try client(keys: keys)).allSatisfy { $0.code == .keySigns })
    }

    @Test(arguments: [
        (KeyState.active, KeyTrial.unusable("gone"), FindingCode.keyUnusable),
        (.pending, .unusable("gone"), .keyNextUnusable),
        (.active, .rejected("audience"), .keyAssertionRejected),
    ])
    func `a key that does not sign is told by what it is needed for`(
        state: KeyState, trial: KeyTrial, code: FindingCode
    ) throws {
        let codes = KeyChecks.findings(try client(keys: [try key(state, trial: trial)])).map(\.code)
        #expect(codes.contains(code))
    }

    @Test func `a key that signs no more may be gone`() throws {
        let keys = [try key(), try key(.retiring, trial: .unusable("gone"), kid: "o")]
        #expect(KeyChecks.findings(try client(keys: keys)).map(\.code) == [.keySigns])
    }

    @Test func `no key, none active, another algorithm and one kid twice are faults`() throws {
        #expect(KeyChecks.findings(try client()).map(\.code) == [.keyNoneActive])
        #expect(
            KeyChecks.findings(try client(keys: [try key(.pending, trial: .signs)])).map(\.code)
                == [.keyNoneActive, .keySigns])
        let rsa = try PrivateKey.generate(.PS256).publicJWK
        #expect(
            KeyChecks.findings(try client(keys: [try key(trial: .signs, jwk: rsa)])).map(\.code)
                == [.keyWrongAlgorithm])
        #expect(
            KeyChecks.findings(try client(keys: [try key(), try key(.retiring)])).map(\.code)
                .contains(.keyDuplicateKid))
    }

    @Test func `a key of two clients is told of both`() throws {
        let jwk = try PrivateKey.generate(.ES256).publicJWK
        let clients = [
            try client("a", keys: [try key(jwk: jwk)]), try client("b", keys: [try key(jwk: jwk)]),
            try client("c", keys: [try key()]),
        ]
        let declared = Dictionary(
            uniqueKeysWithValues: clients.map { ($0.id, $0.keys.map(\.key)) })
        let findings = KeyChecks.shared(clients, among: declared)
        #expect(findings.map(\.code) == [.keyShared, .keyShared])
        #expect(
            findings.map(\.subject)
                == [.client(try Sample.clientId("a")), .client(try Sample.clientId("b"))])
        // Of the one that is looked at it is told, though the other is not looked at.
        for (place, other) in [(0, "b"), (1, "a")] {
            let alone = KeyChecks.shared([clients[place]], among: declared)
            #expect(alone.map(\.subject) == [.client(clients[place].id)])
            #expect(alone.first?.detail.contains("\"\(other)\"") == true)
        }
        #expect(KeyChecks.shared([clients[2]], among: declared).isEmpty)
    }

    @Test func `a secret is told by whether it can be used, and by where it lies`() throws {
        let uri = "file:/s"
        let good = try client(keys: [try key()], secret: SecretFacts(uri: uri, fault: nil))
        #expect(KeyChecks.findings(good).map(\.code) == [.keySigns, .secretUsable])
        let bad = try client(keys: [try key()], secret: SecretFacts(uri: uri, fault: "gone"))
        let findings = KeyChecks.findings(bad)
        #expect(findings.map(\.code) == [.keySigns, .secretUnusable])
        #expect(findings.last?.detail.contains("\"file:/s\": gone") == true)
        #expect(findings.last?.level == .fault)
    }

    // MARK: Gates

    private func gateCodes(_ gates: String, _ shared: SharedFacts) throws -> [FindingCode] {
        let mtls =
            gates.contains("mtls") ? "\"certificates\":[{\"san_dns\":\"backend.example\"}]" : ""
        return GateChecks.findings(
            try client(settings: try Sample.settings(gates: gates, mtls)), shared
        ).map(\.code)
    }

    @Test func `gates that let their callers in are open`() throws {
        let shared = try shared(tokens: [try goodToken()], takesCertificates: true)
        for gates in [
            "[\"dpop\"]", "[\"backend_token\"]", "[\"mtls\"]", "[[\"mtls\",\"dpop\"],\"dpop\"]",
        ] {
            #expect(try gateCodes(gates, shared) == [.gateOpen])
        }
    }

    @Test func `a token that is no good opens no gate`() throws {
        let bad = [
            try Sample.token("expired", expiresAt: Self.now),
            try Sample.token("revoked", expiresAt: Self.now + 100, isRevoked: true),
            try Sample.token("consume", scopes: [.consume], expiresAt: Self.now + 100),
            try Sample.token("other", tenant: "other", expiresAt: Self.now + 100),
        ]
        for gates in ["[\"backend_token\"]", "[\"dpop\",[\"backend_token\",\"dpop\"]]"] {
            #expect(try gateCodes(gates, try shared(tokens: bad)) == [.gateNoToken])
        }
    }

    @Test func `mtls is closed where nobody is asked, and not judged where that is not known`()
        throws
    {
        #expect(
            try gateCodes("[\"mtls\"]", try shared(takesCertificates: false))
                == [.gateNoCertificates])
        #expect(try gateCodes("[\"mtls\"]", try shared()) == [.gateOpen])
    }

    @Test(arguments: [
        ([Int64](), FindingCode.gateNoNonces), ([172_801], .gateStaleNonces),
        ([172_800], .gateOpen), ([900_000, 60], .gateOpen),
    ])
    func `dpop without a fresh secret for nonces is weaker than it looks`(
        ages: [Int64], code: FindingCode
    ) throws {
        #expect(try gateCodes("[\"dpop\"]", try shared(nonceAges: ages)) == [code])
        // And nobody else cares.
        #expect(
            try gateCodes(
                "[\"backend_token\"]", try shared(tokens: [try goodToken()], nonceAges: ages))
                == [.gateOpen])
    }

    @Test func `tokens that last too long or end soon are told, good ones and others' are not`()
        throws
    {
        let day: Int64 = 86_400
        func codes(_ token: APIToken) throws -> [FindingCode] {
            GateChecks.tokens(try shared(tokens: [token]), of: [try Sample.tenantId()]).map(\.code)
        }
        func token(_ days: Int64, revoked: Bool = false, tenant: String = "acme") throws -> APIToken
        {
            try Sample.token(
                "t", tenant: tenant, expiresAt: Self.now + days * day, isRevoked: revoked)
        }
        #expect(try codes(token(396)).isEmpty)
        #expect(try codes(token(397)) == [.tokenLongLived])
        #expect(try codes(token(14)).isEmpty)
        #expect(try codes(token(13)) == [.tokenExpires])
        #expect(try codes(token(-1)).isEmpty)
        #expect(try codes(token(1, revoked: true)).isEmpty)
        #expect(try codes(token(1, tenant: "other")).isEmpty)
    }

    // MARK: Limits

    private func limitCodes(
        install: LimitSettings = .defaultInstall, client: LimitSettings = .defaultClient,
        tenant: LimitSettings? = nil, overrides: [LimitOverride.Declared] = []
    ) throws -> [FindingCode] {
        func json(_ limit: LimitSettings) -> String {
            "{\"burst\":\(limit.burst),\"rate\":\(limit.rate),\"per\":\(limit.per)}"
        }
        let settings = try Sample.settings(
            "\"limits\":{\"install\":\(json(install)),\"client\":\(json(client))}")
        return LimitChecks.findings(
            try self.client(settings: settings, tenantLimit: tenant),
            try shared(overrides: overrides)
        ).map(\.code)
    }

    @Test func `the default limits have room for a whole sign-in`() throws {
        #expect(try limitCodes() == [.limitsFit])
    }

    @Test(arguments: [
        (LimitSettings(burst: 26, rate: 1, per: 3600), FindingCode.limitsFit),
        (LimitSettings(burst: 25, rate: 1, per: 3600), .limitsTight),
        (LimitSettings(burst: 6, rate: 1, per: 3600), .limitsTight),
        (LimitSettings(burst: 5, rate: 1, per: 3600), .limitsBelowSignIn),
        // What comes back meanwhile counts.
        (LimitSettings(burst: 6, rate: 2, per: 1), .limitsFit),
        (LimitSettings(burst: 1, rate: 5, per: 10), .limitsTight),
        (LimitSettings(burst: 1, rate: 4, per: 10), .limitsBelowSignIn),
    ])
    func `a limit that a sign-in would hit is told, whosever it is`(
        limit: LimitSettings, code: FindingCode
    ) throws {
        #expect(try limitCodes(install: limit) == [code])
        #expect(try limitCodes(client: limit) == [code])
        #expect(try limitCodes(tenant: limit) == [code])
    }

    @Test func `an override counts instead of what is declared`() throws {
        let tight = LimitSettings(burst: 2, rate: 1, per: 60)
        let app = try Sample.clientId()
        let subjects: [LimitOverride.Subject] = [
            .eachInstall(of: app), .client(app), .tenant(try Sample.tenantId()),
        ]
        for subject in subjects {
            let override = LimitOverride.Declared(id: 7, subject: subject, limit: tight)
            #expect(try limitCodes(overrides: [override]) == [.limitsBelowSignIn])
        }
        let wide = LimitOverride.Declared(
            id: 8, subject: .eachInstall(of: app), limit: .defaultInstall)
        #expect(try limitCodes(install: tight, overrides: [wide]) == [.limitsFit])
        let others = LimitOverride.Declared(
            id: 9, subject: .client(try Sample.clientId("web")), limit: tight)
        #expect(try limitCodes(overrides: [others]) == [.limitsFit])
    }
}
