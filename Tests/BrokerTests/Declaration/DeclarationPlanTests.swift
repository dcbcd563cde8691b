import AssertionMint
import JOSE
import Testing

@testable import Broker

@Suite struct DeclarationPlanTests {
    static let keys = (0..<3).map { _ in Result { try PrivateKey.generate(.ES256).publicJWK } }

    static func key(
        _ index: Int, _ state: KeyState = .active, uri: String? = nil, kid: String? = nil
    ) throws -> Declaration.Key {
        var jwk = try keys[index].get()
        let kid = kid ?? "k\(index)"
        jwk.kid = kid
        return Declaration.Key(
            kid: kid, uri: uri ?? "file:/\(index)", state: state, publicJWK: jwk)
    }

    struct Client {
        var id = "app"
        var tenant = "acme"
        var settings = ""
        var keys: [Declaration.Key]
    }

    func declaration(_ clients: [Client], tenants: [String: String] = ["acme": "{}"]) throws
        -> Declaration
    {
        Declaration(
            tenants: try tenants.sorted { $0.key < $1.key }.map { name, settings in
                Declaration.Tenant(
                    id: try Sample.tenantId(name), settings: try Sample.tenantSettings(settings),
                    clients: try clients.filter { $0.tenant == name }.map {
                        Declaration.Client(
                            id: try Sample.clientId($0.id),
                            settings: try Sample.settings($0.settings), keys: $0.keys)
                    })
            })
    }

    func rows(_ clients: [Client], tenants: [String: String] = ["acme": "{}"]) throws
        -> DeclarationRows
    {
        let tenants = Dictionary(
            uniqueKeysWithValues: try tenants.map {
                (try Sample.tenantId($0), try Sample.tenantSettings($1))
            })
        return DeclarationRows(
            revision: 1, tenants: tenants,
            clients: try clients.map {
                DeclarationRows.Client(
                    id: try Sample.clientId($0.id), tenant: try Sample.tenantId($0.tenant),
                    settings: try Sample.settings($0.settings),
                    tenantSettings: try #require(tenants[try Sample.tenantId($0.tenant)]))
            },
            keys: Dictionary(
                uniqueKeysWithValues: try clients.map { (try Sample.clientId($0.id), $0.keys) }),
            tokens: [], blocks: [], nonceSecrets: [],
            keyAges: Dictionary(
                uniqueKeysWithValues: try clients.map { client in
                    (
                        try Sample.clientId(client.id),
                        Dictionary(
                            client.keys.map { ($0.kid, Int64(86_400)) },
                            uniquingKeysWith: { first, _ in first })
                    )
                }))
    }

    func plan(
        _ file: [Client], over there: [Client], fileTenants: [String: String] = ["acme": "{}"],
        tenants: [String: String] = ["acme": "{}"], prune: Bool = false
    ) throws -> DeclarationPlan {
        DeclarationPlan(
            try declaration(file, tenants: fileTenants), over: try rows(there, tenants: tenants),
            prune: prune)
    }

    @Test func `what is declared already needs no change, in whatever order it stands`() throws {
        let clients = [
            Client(
                id: "a", settings: "\"lifetime\":30",
                keys: [try Self.key(0), try Self.key(1, .pending)]),
            Client(id: "b", keys: [try Self.key(2)]),
        ]
        var turned = Array(clients.reversed())
        turned[1].keys.reverse()
        let plan = try plan(turned, over: clients, prune: true)
        #expect(plan.isEmpty)
        #expect(plan.lines.isEmpty && plan.tenants.isEmpty && plan.clients.isEmpty)
        #expect(plan.kept.isEmpty && plan.conflicts.isEmpty)
    }

    @Test func `into an empty database everything is new`() throws {
        let plan = try plan([Client(keys: [try Self.key(0)])], over: [], tenants: [:])
        #expect(
            plan.lines == [
                "+ tenant acme", "+ client app (tenant acme, ES256)", "+ key k0 of app: active",
            ])
        #expect(plan.clients.map(\.isChanged) == [true])
        #expect(plan.clients.first?.keys?.count == 1)
    }

    @Test(arguments: [
        ("\"lifetime\":30", "~ client app: lifetime: 60 → 30"),
        ("\"typ\":\"JWT\"", "~ client app: typ: \"client-authentication+jwt\" → \"JWT\""),
        ("\"bind_jkt\":false", "~ client app: bind_jkt: true → false"),
        ("\"backdating\":1", "~ client app: backdating: 0 → 1"),
    ])
    func `a changed setting is shown with both values`(settings: String, line: String) throws {
        let keys = [try Self.key(0)]
        let plan = try plan([Client(settings: settings, keys: keys)], over: [Client(keys: keys)])
        #expect(plan.lines == [line])
        #expect(plan.clients.map(\.isChanged) == [true])
        #expect(plan.clients.first?.keys == nil, "keys stay as they are")
    }

    @Test func `limits of client and tenant are settings too`() throws {
        let keys = [try Self.key(0)]
        let limits = "\"limits\":{\"client\":{\"burst\":1,\"rate\":1,\"per\":1}}"
        let one = try plan([Client(settings: limits, keys: keys)], over: [Client(keys: keys)])
        #expect(one.lines.count == 1)
        #expect(one.lines.first?.hasPrefix("~ client app: limits: ") == true)
        let tenant = "{\"limits\":{\"tenant\":{\"burst\":1,\"rate\":1,\"per\":1}}}"
        let other = try plan(
            [Client(keys: keys)], over: [Client(keys: keys)], fileTenants: ["acme": tenant])
        #expect(other.lines == ["~ tenant acme: limits"])
        #expect(other.clients.isEmpty)
    }

    @Test func `a rotation is a change of states, with the settings untouched`() throws {
        let plan = try plan(
            [Client(keys: [try Self.key(0, .retiring), try Self.key(1)])],
            over: [Client(keys: [try Self.key(0), try Self.key(1, .pending)])])
        #expect(
            plan.lines == [
                "~ key k0 of app: active → retiring", "~ key k1 of app: pending → active",
            ])
        #expect(plan.clients.map(\.isChanged) == [false])
        #expect(plan.clients.first?.keys?.count == 2)
    }

    @Test func `a key may move, leave and come`() throws {
        let plan = try plan(
            [Client(keys: [try Self.key(0, uri: "file:/new"), try Self.key(2, .pending)])],
            over: [Client(keys: [try Self.key(0), try Self.key(1, .retiring)])])
        #expect(
            plan.lines == [
                "~ key k0 of app: file:/0 → file:/new", "+ key k2 of app: pending",
                "- key k1 of app",
            ])
    }

    @Test func `a kid that is another key already is a conflict, whatever else changes`() throws {
        let plan = try plan(
            [Client(settings: "\"lifetime\":30", keys: [try Self.key(1, kid: "k0")])],
            over: [Client(keys: [try Self.key(0)])])
        #expect(plan.conflicts.count == 1)
        #expect(plan.conflicts.first?.contains("client app: kid k0") == true)
    }

    @Test func `the same kid of two clients is no conflict`() throws {
        let plan = try plan(
            [
                Client(id: "a", keys: [try Self.key(0, kid: "k")]),
                Client(id: "b", keys: [try Self.key(1, kid: "k")]),
            ],
            over: [Client(id: "a", keys: [try Self.key(0, kid: "k")])])
        #expect(plan.conflicts.isEmpty)
    }

    @Test func `a client may change its tenant`() throws {
        let keys = [try Self.key(0)]
        let both = ["acme": "{}", "rival": "{}"]
        let plan = try plan(
            [Client(tenant: "rival", keys: keys)], over: [Client(keys: keys)], fileTenants: both,
            tenants: both)
        #expect(plan.lines == ["~ client app: tenant acme → rival"])
        #expect(plan.clients.map(\.tenant.rawValue) == ["rival"])
    }

    @Test func `what the file does not name stays, and goes only when pruned`() throws {
        let there = [
            Client(id: "old", tenant: "gone", keys: [try Self.key(1)]),
            Client(keys: [try Self.key(0)]),
        ]
        let both = ["acme": "{}", "gone": "{}"]
        let kept = try plan([there[1]], over: there, tenants: both)
        #expect(kept.isEmpty)
        #expect(kept.kept.count == 2)
        #expect(kept.removedClients.isEmpty && kept.removedTenants.isEmpty)
        let pruned = try plan([there[1]], over: there, tenants: both, prune: true)
        #expect(pruned.lines == ["- client old", "- tenant gone and its tokens"])
        #expect(pruned.removedClients.map(\.rawValue) == ["old"])
        #expect(pruned.removedTenants.map(\.rawValue) == ["gone"])
    }

    @Test func `settings that went through the database are the same settings`() throws {
        let settings = try Sample.settings(
            issuers: ["https://a.example", "https://a.example/"],
            gates: "[[\"dpop\",\"backend_token\"],\"dpop\"]",
            "\"typ\":\"none\",\"lifetime\":300,\"backdating\":10,\"bind_jkt\":false,"
                + "\"limits\":{\"install\":{\"burst\":1,\"rate\":2,\"per\":3},\"client\":{\"burst\":4,\"rate\":5,\"per\":6}}"
        )
        var json = JSONWriter()
        json.object { settings.writeMembers(to: &$0) }
        #expect(try StoredDocument.clientSettings(json.text) == settings)
        var tenant = JSONWriter()
        let limited = try Sample.tenantSettings(
            "{\"limits\":{\"tenant\":{\"burst\":1,\"rate\":2,\"per\":3}}}")
        tenant.object { limited.writeMembers(to: &$0) }
        #expect(try StoredDocument.tenantSettings(tenant.text) == limited)
    }

    @Test(arguments: ["", "[]", "{\"alg\":\"ES256\"}", "{\"alg\":\"ES256\",\"x\":1}"])
    func `settings the broker never wrote are refused when read back`(_ text: String) {
        #expect(throws: DocumentRefused.self) { try StoredDocument.clientSettings(text) }
    }

    @Test(arguments: [
        (1, 1, 1, 1_000_000), (30, 30, 60, 2_000_000), (5, 1_000_000, 1, 1), (1, 3, 1, 333_334),
        (1, 1, 86_400, 86_400_000_000),
    ])
    func `a limit's step is its time by its rate`(
        burst: Int64, rate: Int64, per: Int64, step: Int64
    ) {
        let policy = LimitSettings(burst: burst, rate: rate, per: per).policy(named: "install")
        #expect(policy.stepMicroseconds == step)
        #expect(policy.isValid)
    }
}
