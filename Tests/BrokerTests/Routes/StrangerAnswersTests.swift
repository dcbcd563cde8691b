import AssertionMint
import JOSE
import SocketServer
import Testing

@testable import Broker

/// Who is not authenticated learns nothing about clients: whatever kind of credential falls short, the answer is the same for a
/// client that exists, one that does not, a blocked install, a key that cannot be used, and an audience that is wrong.
@Suite struct StrangerAnswersTests {
    /// What a caller can tell apart: everything but the date and the request's own id.
    struct Answer: Equatable {
        let status: Int
        let headers: [String]
        let body: String

        init(_ response: WireResponse) throws {
            status = response.status
            headers = response.headers.filter { $0.name != "date" }.map {
                "\($0.name): \($0.value)"
            }
            let members = try response.json().members ?? []
            body = members.filter { $0.name != "request_id" }.map { member in
                var json = JSONWriter()
                json.value(member.value)
                return "\(member.name): \(json.text)"
            }.joined(separator: "\n")
        }
    }

    /// What a request shows.
    enum Shown: String, CaseIterable, Sendable {
        case nothing, malformed, unknownToken, revokedToken, expiredToken, scopelessToken
        case malformedProof, unsignedProof, goodProof, usedProof
        case strangersCertificate, othersCertificate
        case unknownTokenAndProof, unknownTokenAndCertificate, proofAndStrangersCertificate
        case unsignedProofAndCertificate
    }

    /// Whom a request asks for.
    struct Target: Sendable, CustomStringConvertible {
        var client: String
        var audience = Sample.issuer
        var isBlocked = false
        var description: String { "\(client) \(audience)\(isBlocked ? " blocked" : "")" }
    }

    static let mine = Sample.certificate(1, .dns("mine.example"))
    static let stranger = Sample.certificate(2, .dns("stranger.example"))

    let install: Install
    let blocked: Install
    let broker: TestBroker

    init() async throws {
        install = try Install()
        blocked = try Install()
        let now = WallClock.system.microseconds()
        broker = try await TestBroker(
            try Self.directory(blocking: blocked), clock: WallClock { now },
            certificates: ["mine": Self.mine, "stranger": Self.stranger])
    }

    static func directory(blocking install: Install) throws -> Directory {
        let mtls = #""certificates":[{"san_dns":"theirs.example"}]"#
        let clients = [
            ("token", #"["backend_token"]"#, ""), ("mtls", #"["mtls"]"#, mtls),
            ("mtls-dpop", #"[["mtls","dpop"]]"#, mtls),
            ("token-dpop", #"[["backend_token","dpop"]]"#, ""),
            ("token-mtls", #"[["backend_token","mtls"]]"#, mtls),
            ("open", #"["dpop"]"#, ""),
            ("mine", #"["mtls"]"#, #""certificates":[{"san_dns":"mine.example"}]"#),
        ]
        var registered = try clients.map { id, gates, members in
            try Sample.client(id, settings: try Sample.settings(gates: gates, members))
        }
        let settings = try Sample.settings(gates: #"["backend_token"]"#)
        registered.append(
            RegisteredClient(
                id: try Sample.clientId("keyless"), tenant: try Sample.tenantId(),
                settings: settings, tenantSettings: try Sample.tenantSettings(),
                signing: .unusable("gone"), publicKeys: []))
        registered.append(try Sample.client("rivals", tenant: "rival", settings: settings))
        return try Sample.directory(
            registered,
            tokens: [
                Sample.token("tb_good"), Sample.token("tb_rival", tenant: "rival"),
                Sample.token("tb_revoked", isRevoked: true),
                Sample.token("tb_expired", expiresAt: 1),
                Sample.token("tb_scopeless", scopes: []),
            ],
            blocks: [Block(jkt: try #require(DpopJkt(install.jkt)), client: nil)])
    }

    /// Every client that does not let any of the kinds of `Shown` pass.
    static let targets: [Target] =
        [
            Target(client: "nobody"), Target(client: "nobody", audience: "https://evil.example"),
            Target(client: "nobody", isBlocked: true), Target(client: "no/body%20\u{7e}"),
            Target(client: "keyless"), Target(client: "keyless", audience: "https://evil.example"),
            Target(client: "rivals"),
        ]
        + ["token", "mtls", "mtls-dpop", "token-dpop", "token-mtls"].flatMap { client in
            [
                Target(client: client), Target(client: client, audience: "https://evil.example"),
                Target(client: client, audience: ""), Target(client: client, isBlocked: true),
            ]
        }

    func call(_ shown: Shown, _ target: Target, used: String) throws -> MintCall {
        let install = target.isBlocked ? blocked : install
        var call = MintCall()
        call.clientId = target.client
        call.audience = target.audience
        call.dpopJkt = install.jkt
        func bearer(_ token: String) { call.set("Authorization", "Bearer \(token)") }
        func certificate(_ name: String) { call.set("X-Test-Certificate", name) }
        func proof() throws { call.set("DPoP", try broker.proof(install)) }
        func unsigned() throws { call.set("DPoP", Self.altered(try broker.proof(install))) }
        switch shown {
        case .nothing: break
        case .malformed: call.set("Authorization", "Basic YTpi")
        case .unknownToken: bearer("tb_unknown")
        case .revokedToken: bearer("tb_revoked")
        case .expiredToken: bearer("tb_expired")
        case .scopelessToken: bearer("tb_scopeless")
        case .malformedProof: call.set("DPoP", "a.b.c")
        case .unsignedProof: try unsigned()
        case .goodProof: try proof()
        case .usedProof: call.set("DPoP", used)
        case .strangersCertificate: certificate("stranger")
        case .othersCertificate: certificate("mine")
        case .unknownTokenAndProof:
            bearer("tb_unknown")
            try proof()
        case .unknownTokenAndCertificate:
            bearer("tb_unknown")
            certificate("mine")
        case .proofAndStrangersCertificate:
            certificate("stranger")
            try proof()
        case .unsignedProofAndCertificate:
            certificate("mine")
            try unsigned()
        }
        return call
    }

    /// The same proof with another signature of the right form.
    static func altered(_ proof: String) -> String {
        let parts = proof.split(separator: ".")
        guard let signature = parts.last.flatMap({ Base64URL.decode(String($0)) }) else {
            return ""
        }
        let other = signature.dropLast() + [(signature.last ?? 0) ^ 1]
        return parts.dropLast().joined(separator: ".") + "." + Base64URL.encode(Array(other))
    }

    @Test(arguments: Shown.allCases)
    func `whoever falls short gets one and the same answer, whatever was asked for`(_ shown: Shown)
        async throws
    {
        // Used for the client that takes it, so that only its reuse is wrong with it.
        let used = try broker.proof(install)
        #expect(
            try await broker.send(.proof(used, jkt: install.jkt) { $0.clientId = "open" }).status
                == 200)
        let before = broker.database.jtis.count
        var first: Answer?
        for target in Self.targets {
            let answer = try Answer(try await broker.send(try call(shown, target, used: used)))
            // Whose token without the scope it is we know; it learns no more than the others.
            #expect(answer.status == (shown == .scopelessToken ? 403 : 401), "\(target)")
            #expect(answer == first ?? answer, "\(target)")
            first = first ?? answer
        }
        #expect(broker.database.jtis.count == before)
    }

    @Test func `all who show no proof get the same answer, too`() async throws {
        var answers: [Answer] = []
        for shown in [
            Shown.unknownToken, .revokedToken, .expiredToken, .strangersCertificate,
            .othersCertificate, .unknownTokenAndCertificate,
        ] {
            answers.append(
                try Answer(
                    try await broker.send(try call(shown, Target(client: "token"), used: ""))))
        }
        #expect(answers.allSatisfy { $0 == answers[0] })
        let challenges = answers[0].headers.filter { $0.hasPrefix("www-authenticate") }
        #expect(
            challenges == [
                "www-authenticate: DPoP algs=\"ES256 PS256\"",
                "www-authenticate: Bearer realm=\"broker\"",
                "www-authenticate: ClientCertificate realm=\"broker\"",
            ])
    }

    @Test func `another tenant's token learns that it is the wrong one, and nothing of the client`()
        async throws
    {
        var answers: [Answer] = []
        for target in Self.targets where !["nobody", "rivals"].contains(target.client.prefix(6)) {
            guard !target.client.hasPrefix("no/body") else { continue }
            var call = try call(.nothing, target, used: "")
            call.set("Authorization", "Bearer tb_rival")
            answers.append(try Answer(try await broker.send(call)))
        }
        #expect(answers.count >= 20)
        #expect(answers.allSatisfy { $0.status == 403 && $0 == answers[0] })
    }

    /// So that the suite above can fail: to those who may know, each of the same targets answers in its own way.
    @Test func `an authenticated caller is told what is wrong`() async throws {
        func code(_ target: Target, certificate: String? = nil) async throws -> String? {
            var call = try call(.nothing, target, used: "")
            if let certificate {
                call.set("X-Test-Certificate", certificate)
            } else {
                call.set("Authorization", "Bearer tb_good")
            }
            let response = try await broker.send(call)
            return response.status == 200 ? "minted" : response.code
        }
        #expect(try await code(Target(client: "token")) == "minted")
        #expect(try await code(Target(client: "nobody")) == "unknown_client")
        #expect(try await code(Target(client: "keyless")) == "unavailable")
        #expect(try await code(Target(client: "token", isBlocked: true)) == "install_blocked")
        #expect(try await code(Target(client: "token", audience: "x")) == "invalid_audience")
        #expect(try await code(Target(client: "rivals")) == "caller_not_allowed")
        #expect(try await code(Target(client: "mine"), certificate: "mine") == "minted")
        #expect(
            try await code(Target(client: "mine", isBlocked: true), certificate: "mine")
                == "install_blocked")
        #expect(
            try await code(Target(client: "mine", audience: "x"), certificate: "mine")
                == "invalid_audience")
    }
}
