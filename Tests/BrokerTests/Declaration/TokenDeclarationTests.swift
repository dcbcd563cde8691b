import AssertionMint
import JOSE
import TestKit
import Testing

@testable import Broker

/// What a declaration says of transport tokens and client attestations: read strictly, kept as declared, shown by the plan.
@Suite struct TokenDeclarationTests {
    private let directory: TemporaryDirectory
    private let secret: String

    init() throws {
        directory = try TemporaryDirectory()
        secret =
            "file:"
            + (try directory.write(Array("\(Sample.secretText)\n".utf8), to: "org.secret"))
    }

    private func read(_ members: String) throws(DocumentRefused) -> ClientSettings {
        let declaration = try DeclarationReaderTests.read(DeclarationReaderTests.client(members))
        return declaration.tenants[0].clients[0].settings
    }

    private func faults(_ members: String) -> [DocumentFault] {
        do {
            _ = try read(members)
            return []
        } catch { return error.faults }
    }

    private func tokens(_ change: (String, String?) = ("", nil)) -> String {
        var members = [
            ("secret", "\"\(secret)\""), ("cid", "\"org-17\""), ("iss", "\"https://bank.example\""),
            ("aud", "\"https://sso.example\""),
        ]
        members.removeAll { $0.0 == change.0 }
        if let value = change.1 { members.append((change.0, value)) }
        return "transport_tokens: {\(members.map { "\($0): \($1)" }.joined(separator: ", "))}"
    }

    @Test func `without a declaration a client has neither`() throws {
        let settings = try read("")
        #expect(settings.transportTokens == nil)
        #expect(settings.attestations == nil)
        #expect(settings.signedLifetime == 60)
    }

    @Test func `both are read, with defaults for what is left out`() throws {
        let settings = try read("\(tokens())\nclient_attestations: {}")
        let declared = try #require(settings.transportTokens)
        #expect(declared.secretURI == secret)
        #expect(declared.profile.clientId.rawValue == "org-17")
        #expect(declared.profile.issuer.rawValue == "https://bank.example")
        #expect(declared.profile.audience.rawValue == "https://sso.example")
        #expect(declared.profile.lifetime == 60)
        #expect(declared.profile.backdating == 0)
        #expect(settings.attestations?.lifetime == 300)
    }

    @Test func `what is declared is what the database keeps, and never the secret`() throws {
        let settings = try read(
            "\(tokens(("lifetime", "30")))\nclient_attestations: {lifetime: 90}")
        var written = JSONWriter()
        written.object { settings.writeMembers(to: &$0) }
        #expect(try StoredDocument.clientSettings(written.text) == settings)
        #expect(!written.text.contains(Sample.secretText))
        let without = try read("")
        written = JSONWriter()
        written.object { without.writeMembers(to: &$0) }
        #expect(!written.text.contains("transport_tokens"), "older replicas know no such member")
        #expect(!written.text.contains("client_attestations"))
    }

    static let broken: [(member: String, value: String?, place: String)] = [
        ("secret", nil, "secret"), ("secret", "5", "secret"), ("secret", "null", "secret"),
        ("secret", "\"\"", "secret"), ("secret", "\"\(Sample.secretText)\"", "secret"),
        ("secret", "\"file:relative\"", "secret"), ("secret", "\"pkcs11:token=a\"", "secret"),
        ("secret", "\"handle:0x81000001\"", "secret"), ("secret", "\"credential:a/b\"", "secret"),
        ("secret", "\"env:SECRET\"", "secret"), ("secret", "{text: \"x\"}", "secret"),
        ("cid", nil, "cid"), ("cid", "\"\"", "cid"), ("cid", "\"a b\"", "cid"),
        ("cid", "17", "cid"),
        ("iss", nil, "iss"), ("iss", "[\"a\"]", "iss"), ("iss", "\"a\\n\"", "iss"),
        ("aud", nil, "aud"), ("aud", "[\"https://sso.example\"]", "aud"), ("aud", "\"é\"", "aud"),
        ("lifetime", "61", "lifetime"), ("lifetime", "9", "lifetime"),
        ("lifetime", "\"60\"", "lifetime"), ("lifetime", "59.5", "lifetime"),
        ("backdating", "10", "backdating"), ("backdating", "-1", "backdating"),
        ("alg", "\"HS512\"", "alg"), ("typ", "\"JWT\"", "typ"), ("key", "\"file:/es\"", "key"),
        ("secert", "\"file:/x\"", "secert"),
    ]

    @Test(arguments: broken)
    func `one broken rule is one fault that names its member`(
        member: String, value: String?, place: String
    ) {
        let found = faults(tokens((member, value)))
        #expect(
            found.map(\.path) == ["\(DeclarationReaderTests.path).transport_tokens.\(place)"],
            "\(found)")
        #expect(!"\(found)".contains(Sample.secretText), "a secret in a file is not repeated")
    }

    @Test(arguments: [
        ("transport_tokens: true", ".transport_tokens"),
        ("transport_tokens: []", ".transport_tokens"),
        ("client_attestations: true", ".client_attestations"),
        ("client_attestations: 300", ".client_attestations"),
        ("client_attestations: {lifetime: 29}", ".client_attestations.lifetime"),
        ("client_attestations: {lifetime: 301}", ".client_attestations.lifetime"),
        ("client_attestations: {secret: \"file:/x\"}", ".client_attestations.secret"),
        ("client_attestations: {alg: \"HS256\"}", ".client_attestations.alg"),
        ("client_attestation: {}", ".client_attestation"),
    ])
    func `another shape is refused by name`(members: String, place: String) {
        #expect(faults(members).map(\.path) == ["\(DeclarationReaderTests.path)\(place)"])
    }

    /// RFC 8725 §2.1, and the custody of key files: found out before anything changes.
    @Test func `a secret that cannot be used is refused by file and reason`() async throws {
        let pem = String(
            decoding: try PrivateKey.generate(.ES256).pkcs8PEM(), as: UTF8.self)
        let files: [(text: String, mode: Int, reason: String)] = [
            (Sample.secretText, 0o644, "mode 0600"), ("short", 0o600, "32 to 1024"),
            (pem, 0o600, "holds a key"),
            ("two words of a secret, that is no one word", 0o600, "blanks"),
            (String(repeating: "changeme", count: 4), 0o600, "placeholder"),
        ]
        for (number, file) in files.enumerated() {
            let path = try directory.write(
                Array(file.text.utf8), to: "\(number).secret", mode: file.mode)
            let found = faults(tokens(("secret", "\"file:\(path)\"")))
            #expect(
                found.map(\.path) == ["\(DeclarationReaderTests.path).transport_tokens.secret"])
            let message = try #require(found.first).message
            #expect(message.contains(path) && message.contains(file.reason), "\(message)")
            #expect(!message.contains(file.text))
        }
        let missing = faults(tokens(("secret", "\"file:\(directory.file("none"))\"")))
        #expect(missing.first?.message.contains("errno 2") == true)
    }

    @Test func `a key's URI with a secret in its file is refused as a key`() throws {
        let refused = try #require(throws: DocumentRefused.self) {
            try DeclarationReader.read(
                Array(
                    DeclarationReaderTests.client("keys: [{uri: \"\(secret)\", state: \"active\"}]")
                        .utf8))
        }
        #expect(refused.faults.map(\.path) == ["\(DeclarationReaderTests.path).keys[0].uri"])
        #expect(!refused.description.contains(Sample.secretText))
    }

    @Test func `the plan shows what changes`() throws {
        let plans = DeclarationPlanTests()
        let keys = [try DeclarationPlanTests.key(0)]
        let more = "\(TokenKindTests.transport),\(TokenKindTests.attestations)"
        let plan = try plans.plan(
            [.init(settings: more, keys: keys)], over: [.init(keys: keys)])
        #expect(plan.lines.count == 2)
        #expect(
            plan.lines.contains("~ client app: client_attestations: unset → {\"lifetime\":120}"))
        #expect(
            plan.lines.contains {
                $0.hasPrefix("~ client app: transport_tokens: unset → {")
                    && $0.contains("\"secret\":\"file:/never-opened\"")
            })
        #expect(
            try plans.plan(
                [.init(settings: more, keys: keys)], over: [.init(settings: more, keys: keys)]
            )
            .isEmpty)
    }

    /// An attestation may outlive every assertion, and its key must stay published as long.
    @Test(arguments: [(Int64(359), false), (360, true)])
    func `a key goes only when its last attestation has expired`(age: Int64, isAllowed: Bool) throws
    {
        let settings = try Sample.settings("\"client_attestations\":{}")
        #expect(settings.signedLifetime == 300)
        let id = try Sample.clientId()
        let (old, new) = (
            try DeclarationPlanTests.key(0, .retiring), try DeclarationPlanTests.key(1)
        )
        let tenant = try Sample.tenantId()
        let none = try Sample.tenantSettings()
        let rows = DeclarationRows(
            revision: 1, tenants: [tenant: none],
            clients: [.init(id: id, tenant: tenant, settings: settings, tenantSettings: none)],
            keys: [id: [old, new]], tokens: [], blocks: [], nonceSecrets: [],
            keyAges: [id: [old.kid: age, new.kid: 9999]])
        let declaration = Declaration(tenants: [
            .init(
                id: tenant, settings: none,
                clients: [.init(id: id, settings: settings, keys: [new])])
        ])
        let plan = DeclarationPlan(declaration, over: rows, prune: false)
        #expect(plan.conflicts.isEmpty == isAllowed, "\(plan.conflicts)")
    }
}
