import AssertionMint
import JOSE
import TestKit
import Testing

@testable import Broker

@Suite struct DeclarationReaderTests {
    /// The keys at the URIs the texts below name.
    static let es = Result { try PrivateKey.generate(.ES256).publicJWK }
    static let es2 = Result { try PrivateKey.generate(.ES256).publicJWK }
    static let ps = Result { try PrivateKey.generate(.PS256).publicJWK }

    static func key(_ uri: String) throws(KeyError) -> PublicJWK {
        let key =
            switch uri {
            case "file:/es": es
            case "file:/es2": es2
            case "file:/ps": ps
            default: throw .unreadableFile(errno: 2)
            }
        guard let key = try? key.get() else { throw .unusable }
        return key
    }

    static func read(_ text: String) throws(DocumentRefused) -> Declaration {
        try DeclarationReader.read(Array(text.utf8)) { (uri) throws(KeyError) in try key(uri) }
    }

    func faults(_ text: String) -> [DocumentFault] {
        do {
            _ = try Self.read(text)
            return []
        } catch { return error.faults }
    }

    static let keys = #"keys: [{uri: "file:/es", state: "active"}]"#

    /// A file with one client that has these members, a line each, besides those it must have and they do not name.
    static func client(_ members: String = "", without missing: String = "") -> String {
        let lines = members.split(separator: "\n").map(String.init)
        let given = lines.map { String($0.prefix { $0 != ":" }) } + [missing]
        let needed = [
            #"alg: "ES256""#, #"issuers: ["https://idp.example"]"#, #"gates: ["dpop"]"#, keys,
        ].filter { !given.contains(String($0.prefix { $0 != ":" })) }
        return "{tenants: {acme: {clients: {app: {\((needed + lines).joined(separator: ",\n"))}}}}}"
    }

    @Test func `a whole file with comments and trailing commas is read`() throws {
        let declaration = try Self.read(
            """
            {
              tenants: {
                acme: {
                  limits: { tenant: { burst: 100, rate: 10, per: 1 } },
                  clients: {
                    "app-ios": {
                      alg: "ES256", // signs fast
                      issuers: ["https://idp.example", "https://idp.example/"],
                      gates: ["dpop", ["backend_token", "dpop"]],
                      typ: "JWT", lifetime: 30, backdating: 5, bind_jkt: false,
                      limits: {
                        install: { burst: 3, rate: 1, per: 60 },
                        client: { burst: 1000, rate: 500, per: 1 },
                      },
                      keys: [
                        { uri: "file:/es", state: "active", kid: "k1" },
                        { uri: "file:/es2", state: "pending" },
                      ],
                    },
                  },
                },
                rival: { clients: {} },
              },
            }
            """)
        #expect(declaration.tenants.map(\.id.rawValue) == ["acme", "rival"])
        #expect(
            declaration.tenants[0].settings.limit == LimitSettings(burst: 100, rate: 10, per: 1))
        let client = try #require(declaration.tenants[0].clients.first)
        #expect(client.id.rawValue == "app-ios")
        #expect(
            client.settings.issuers.map(\.rawValue) == [
                "https://idp.example", "https://idp.example/",
            ])
        #expect(client.settings.gates.map(\.description) == ["dpop", "backend_token+dpop"])
        #expect(client.settings.profile.type == .jwt)
        #expect(client.settings.profile.lifetime == 30)
        #expect(client.settings.profile.backdating == 5)
        #expect(!client.settings.profile.bindsInstall)
        #expect(client.settings.limits.install == LimitSettings(burst: 3, rate: 1, per: 60))
        #expect(client.settings.limits.client == LimitSettings(burst: 1000, rate: 500, per: 1))
        #expect(client.keys.map(\.kid) == ["k1", try Self.es2.get().thumbprint])
        #expect(client.keys.map(\.state) == [.active, .pending])
    }

    @Test func `what is left out has the defaults of design.md §5 and §7`() throws {
        let settings = try #require(Self.read(Self.client()).tenants[0].clients.first).settings
        #expect(settings.profile.type == .clientAuthentication)
        #expect(settings.profile.lifetime == 60)
        #expect(settings.profile.backdating == 0)
        #expect(settings.profile.bindsInstall)
        #expect(settings.limits.install == .defaultInstall)
        #expect(settings.limits.client == .defaultClient)
    }

    static let path = "tenants.acme.clients.app"

    static let broken: [(member: String, place: String)] = [
        ("alg: \"RS256\"", ".alg"), ("alg: \"HS256\"", ".alg"),
        ("alg: \"es256\"", ".alg"), ("alg: \"none\"", ".alg"),
        ("alg: 5", ".alg"),
        ("issuers: []", ".issuers"), ("issuers: \"https://idp.example\"", ".issuers"),
        ("issuers: [\"http://idp.example\"]", ".issuers"),
        ("issuers: [\"https://idp.example?x\"]", ".issuers"),
        ("issuers: [\"https://idp.example#x\"]", ".issuers"),
        ("issuers: [\"https://me@idp.example\"]", ".issuers"),
        ("issuers: [\"idp.example\"]", ".issuers"), ("issuers: [1]", ".issuers"),
        ("issuers: [\"https://idp.example\", \"https://idp.example\"]", ".issuers"),
        ("gates: []", ".gates"), ("gates: [\"tls\"]", ".gates"),
        ("gates: \"dpop\"", ".gates"), ("gates: [\"dpop\", \"dpop\"]", ".gates"),
        ("gates: [[\"dpop\", \"backend_token\"], [\"backend_token\", \"dpop\"]]", ".gates"),
        ("typ: \"dpop+jwt\"", ".typ"), ("typ: null", ".typ"),
        ("lifetime: 9", ".lifetime"), ("lifetime: 301", ".lifetime"),
        ("lifetime: 60.5", ".lifetime"), ("lifetime: \"60\"", ".lifetime"),
        ("lifetime: -60", ".lifetime"), ("lifetime: 99999999999999999999", ".lifetime"),
        ("backdating: 11", ".backdating"), ("backdating: -1", ".backdating"),
        ("lifetime: 10\nbackdating: 10", ".backdating"),
        ("jwks_uri: \"http://keys.example/a\"", ".jwks_uri"), ("jwks_uri: 1", ".jwks_uri"),
        ("jwks_uri: \"https://keys.example/a#b\"", ".jwks_uri"),
        ("jwks_uri: \"keys.example/a\"", ".jwks_uri"),
        ("jwks_uri: \"https://me@keys.example/a\"", ".jwks_uri"),
        ("bind_jkt: 1", ".bind_jkt"), ("bind_jkt: \"true\"", ".bind_jkt"),
        ("limits: 1", ".limits"), ("limits: {device: {}}", ".limits.device"),
        ("limits: {install: 5}", ".limits.install"),
        ("limits: {install: {burst: 0, rate: 1, per: 1}}", ".limits.install.burst"),
        ("limits: {install: {burst: 1000001, rate: 1, per: 1}}", ".limits.install.burst"),
        ("limits: {install: {burst: 1, rate: 0, per: 1}}", ".limits.install.rate"),
        ("limits: {client: {burst: 1, rate: 1, per: 86401}}", ".limits.client.per"),
        ("limits: {client: {burst: 1, rate: 1}}", ".limits.client.per"),
        ("limits: {client: {burst: 1, rate: 1, per: 1, shadow: true}}", ".limits.client.shadow"),
        ("keys: []", ".keys"), ("keys: {}", ".keys"),
        (#"keys: [{uri: "file:/es", state: "pending"}]"#, ".keys"),
        (
            #"keys: [{uri: "file:/es", state: "active"}, {uri: "file:/es2", state: "active"}]"#,
            ".keys"
        ),
        (
            #"keys: [{uri: "file:/es", state: "active"}, {uri: "file:/es", state: "pending", kid: "b"}]"#,
            ".keys[1]"
        ),
        (
            #"keys: [{uri: "file:/es", state: "active", kid: "a"}, {uri: "file:/es2", state: "pending", kid: "a"}]"#,
            ".keys[1]"
        ),
        (#"keys: [{uri: "file:/ps", state: "active"}]"#, ".keys[0].uri"),
        (#"keys: [{uri: "file:/none", state: "active"}]"#, ".keys[0].uri"),
        (#"keys: [{uri: 5, state: "active"}]"#, ".keys[0].uri"),
        (#"keys: [{state: "active"}]"#, ".keys[0].uri"),
        (#"keys: [{uri: "file:/es"}]"#, ".keys[0].state"),
        (#"keys: [{uri: "file:/es", state: "retired"}]"#, ".keys[0].state"),
        (#"keys: [{uri: "file:/es", state: "active", kid: ""}]"#, ".keys[0].kid"),
        (#"keys: [{uri: "file:/es", state: "active", kid: "a b"}]"#, ".keys[0].kid"),
        (#"keys: [{uri: "file:/es", state: "active", pem: "x"}]"#, ".keys[0].pem"),
        (#"keys: ["file:/es"]"#, ".keys[0]"),
        ("lifetme: 60", ".lifetme"), ("tenant: \"acme\"", ".tenant"),
    ]

    /// One broken rule each, and the place it is named with.
    @Test(arguments: broken)
    func `one broken rule is one fault that names its member`(member: String, place: String) {
        let found = faults(Self.client(member))
        #expect(found.map(\.path) == ["\(Self.path)\(place)"], "\(found)")
    }

    @Test(arguments: ["alg", "issuers", "gates", "keys"])
    func `a member that must be there is missed by name`(_ name: String) {
        let found = faults(Self.client(without: name))
        #expect(found.map(\.path) == ["\(Self.path).\(name)"], "\(found)")
        #expect(found.first?.message.hasPrefix("is missing") == true)
    }

    @Test(arguments: [
        ("{}", "tenants"), ("{tenants: []}", "tenants"), ("{tenants: {}, x: 1}", "x"),
        ("{tenants: {\"a b\": {clients: {}}}}", "tenants.a b"), ("{tenants: {a: []}}", "tenants.a"),
        ("{tenants: {a: {}}}", "tenants.a.clients"),
        ("{tenants: {a: {clients: []}}}", "tenants.a.clients"),
        ("{tenants: {a: {clients: {}, limit: 1}}}", "tenants.a.limit"),
        (
            "{tenants: {a: {clients: {}, limits: {tenant: {burst: 1, rate: 1}}}}}",
            "tenants.a.limits.tenant.per"
        ),
        ("{tenants: {a: {clients: {\"a b\": {}}}}}", "tenants.a.clients.a b"),
        ("{tenants: {a: {clients: {app: 1}}}}", "tenants.a.clients.app"),
        ("[]", ""), ("{", "the file"), ("", "the file"), ("{tenants: {a: {}, a: {}}}", "the file"),
    ])
    func `a file of another shape is refused with its place`(text: String, path: String) {
        #expect(faults(text).map(\.path) == [path])
    }

    @Test func `one client id under two tenants is a fault`() {
        let client =
            "{alg: \"ES256\", issuers: [\"https://i.example\"], gates: [\"dpop\"], \(Self.keys)}"
        let found = faults(
            "{tenants: {a: {clients: {app: \(client)}}, b: {clients: {app: \(client)}}}}")
        #expect(found.map(\.path) == ["tenants.b.clients.app"])
    }

    @Test func `all faults are named at once, each with line and column`() {
        let found = faults(
            """
            {
              tenants: {
                acme: {
                  clients: {
                    app: {
                      alg: "RS256",
                      issuers: [],
                      gates: ["dpop"],
                      lifetime: 1,
                      keys: [{ uri: "file:/none", state: "active" }],
                    },
                    "b c": {},
                  },
                },
                "é": {},
              },
              tenant: 1,
            }
            """)
        let places = Set(found.map { "\($0.path) \($0.line):\($0.column)" })
        #expect(
            places == [
                "\(Self.path).alg 6:16", "\(Self.path).issuers 7:20", "\(Self.path).lifetime 9:21",
                "\(Self.path).keys[0].uri 10:25", "tenants.acme.clients.b c 12:9",
                "tenants.é 15:5", "tenant 17:3",
            ])
        #expect(found.count == places.count)
    }

    /// cases.md "Weak or unsuitable key": the message names the file and the reason, and holds no key text.
    @Test(arguments: [
        ("rsa1024", "RSA -pkeyopt rsa_keygen_bits:1024", "PS256", "1024 bits"),
        ("rsa2047", "RSA -pkeyopt rsa_keygen_bits:2047", "PS256", "2047 bits"),
        (
            "rsa3", "RSA -pkeyopt rsa_keygen_bits:2048 -pkeyopt rsa_keygen_pubexp:3", "PS256",
            "exponent"
        ),
        ("p384", "EC -pkeyopt ec_paramgen_curve:P-384", "ES256", "needs P-256"),
        ("secp256k1", "EC -pkeyopt ec_paramgen_curve:secp256k1", "ES256", "needs P-256"),
        ("ed25519", "ED25519", "ES256", "cannot sign"),
        ("wrong-alg", "RSA -pkeyopt rsa_keygen_bits:2048", "ES256", "declared for ES256"),
    ])
    func `a key that may not be used is refused by name`(
        name: String, options: String, alg: String, reason: String
    ) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("\(name).pem")
        try await runChecked(
            ["openssl", "genpkey", "-out", path, "-algorithm"]
                + options.split(separator: " ").map(String.init))
        let text = Self.client(
            "alg: \"\(alg)\"\nkeys: [{uri: \"file:\(path)\", state: \"active\"}]")
        let refused = try #require(throws: DocumentRefused.self) {
            try DeclarationReader.read(Array(text.utf8))
        }
        #expect(refused.faults.count == 1)
        let message = try #require(refused.faults.first).description
        #expect(message.contains(path))
        #expect(message.contains(reason), "\(message)")
        for line in String(decoding: try directory.read("\(name).pem"), as: UTF8.self).split(
            separator: "\n")
        where !line.hasPrefix("-") {
            #expect(!message.contains(line))
        }
    }

    @Test func `a key others may read, one that is missing and one that is none are refused`()
        throws
    {
        let directory = try TemporaryDirectory()
        let pem = try PrivateKey.generate(.ES256).pkcs8PEM()
        let open = try directory.write(pem, to: "open.pem", mode: 0o644)
        let none = try directory.write(Array("hello".utf8), to: "none.pem")
        for (path, reason) in [(open, "mode 0600"), (none, ""), (directory.file("x"), "errno 2")] {
            let text = Self.client("keys: [{uri: \"file:\(path)\", state: \"active\"}]")
            let refused = try #require(throws: DocumentRefused.self) {
                try DeclarationReader.read(Array(text.utf8))
            }
            #expect(refused.description.contains(path))
            #expect(refused.description.contains(reason))
        }
    }

    @Test func `shadows stand beside the limits, and are kept as they are declared`() throws {
        let declaration = try Self.read(
            """
            {tenants: {acme: {limits: {shadow: {tenant: {burst: 7, rate: 2, per: 1}}}, clients: {app: {
                alg: "ES256", issuers: ["https://idp.example"], gates: ["dpop"], \(Self.keys),
                limits: {shadow: {install: {burst: 3, rate: 1, per: 60}}}}}}}}
            """)
        let tenant = try #require(declaration.tenants.first)
        let limits = try #require(tenant.clients.first).settings.limits
        #expect(limits.install == .defaultInstall, "a shadow takes no limit's place")
        #expect(limits.installShadow == LimitSettings(burst: 3, rate: 1, per: 60))
        #expect(limits.clientShadow == nil)
        #expect(tenant.settings.limit == nil)
        #expect(tenant.settings.shadow == LimitSettings(burst: 7, rate: 2, per: 1))
        var written = JSONWriter()
        written.object { tenant.settings.writeMembers(to: &$0) }
        #expect(try StoredDocument.tenantSettings(written.text) == tenant.settings)
        written = JSONWriter()
        written.object { tenant.clients[0].settings.writeMembers(to: &$0) }
        #expect(try StoredDocument.clientSettings(written.text) == tenant.clients[0].settings)
    }

    @Test(arguments: [
        ("limits: {shadow: {tenant: {burst: 1, rate: 1, per: 1}}}", "shadow.tenant"),
        ("limits: {shadow: 1}", ".shadow"),
        ("limits: {shadow: {install: {burst: 1, rate: 1}}}", "shadow.install.per"),
        ("limits: {shadow: {install: {burst: 0, rate: 1, per: 1}}}", "shadow.install.burst"),
        ("limits: {install: {burst: 1, rate: 1, per: 1, shadow: true}}", "install.shadow"),
    ])
    func `a shadow that is no limit is refused by name`(members: String, place: String) {
        #expect(faults(Self.client(members)).contains { $0.path.hasSuffix(place) })
    }
}
