import JOSE
import SocketServer
import Testing

@testable import Broker

/// The `mtls` gate, alone and combined, behind a handler that stands in for TLS.
@Suite struct MTLSGateTests {
    static let backend = Sample.certificate(
        0xAB, .dns("backend.bank.example"), .uri("spiffe://bank.example/backend"))

    let install: Install
    let broker: TestBroker

    init() async throws {
        install = try Install()
        let named = #""certificates":[{"san_dns":"backend.bank.example"}]"#
        func client(_ id: String, _ gates: String, tenant: String = "acme") throws
            -> RegisteredClient
        {
            try Sample.client(
                id, tenant: tenant, settings: try Sample.settings(gates: gates, named))
        }
        broker = try await TestBroker(
            try Sample.directory(
                [
                    client("mtls", #"["mtls"]"#), client("and-dpop", #"[["mtls","dpop"]]"#),
                    client("and-token", #"[["mtls","backend_token"]]"#),
                    client("or-dpop", #"["mtls","dpop"]"#),
                    client("or-token", #"["backend_token","mtls"]"#),
                    client("rivals", #"["mtls"]"#, tenant: "rival"),
                ],
                tokens: [Sample.token("tb_good"), Sample.token("tb_rival", tenant: "rival")]),
            certificates: [
                "backend": Self.backend,
                "renewed": ClientCertificate(
                    sha256: [UInt8](repeating: 1, count: 32), names: Self.backend.names),
                "other": Sample.certificate(2, .dns("other.bank.example")),
                "wildcard": Sample.certificate(3, .dns("*.bank.example")),
                "nameless": Sample.certificate(4),
            ])
    }

    func answer(
        _ client: String, certificate: String? = "backend", token: String? = nil,
        proof: Bool = false
    ) async throws -> String {
        var call = MintCall()
        call.clientId = client
        call.dpopJkt = install.jkt
        call.set("X-Test-Certificate", certificate)
        call.set("Authorization", token.map { "Bearer \($0)" })
        if proof { call.set("DPoP", try broker.proof(install)) }
        let response = try await broker.send(call)
        guard response.status == 200 else { return response.code ?? "\(response.status)" }
        let event = try #require(try await broker.log.events("assertion.minted").last)
        return event["gate"]?.string ?? "no gate"
    }

    @Test func `a certificate the client names passes, also a renewed one`() async throws {
        #expect(try await answer("mtls") == "mtls")
        #expect(try await answer("mtls", certificate: "renewed") == "mtls")
        #expect(try await answer("or-dpop") == "mtls")
        #expect(try await answer("or-token") == "mtls")
    }

    @Test(arguments: ["other", "wildcard", "nameless", nil] as [String?])
    func `without a certificate that the client names nobody passes`(certificate: String?)
        async throws
    {
        for client in ["mtls", "and-dpop", "and-token", "or-token", "nobody"] {
            #expect(
                try await answer(client, certificate: certificate) == "caller_unauthenticated")
        }
    }

    @Test func `all parts of a gate must hold`() async throws {
        #expect(try await answer("and-dpop", proof: true) == "dpop+mtls")
        #expect(try await answer("and-dpop") == "caller_not_allowed")
        #expect(
            try await answer("and-dpop", certificate: nil, proof: true) == "caller_unauthenticated")
        #expect(
            try await answer("and-dpop", certificate: "other", proof: true)
                == "caller_unauthenticated")
        #expect(try await answer("and-token", token: "tb_good") == "backend_token+mtls")
        #expect(try await answer("and-token") == "caller_not_allowed")
        #expect(
            try await answer("and-token", certificate: nil, token: "tb_good")
                == "caller_not_allowed")
        #expect(
            try await answer("and-token", certificate: "other", token: "tb_good")
                == "caller_not_allowed")
    }

    @Test func `any gate suffices, and the log names the one that was passed`() async throws {
        #expect(try await answer("or-dpop", certificate: nil, proof: true) == "dpop")
        #expect(try await answer("or-dpop", certificate: "other", proof: true) == "dpop")
        #expect(try await answer("or-token", certificate: nil, token: "tb_good") == "backend_token")
    }

    @Test func `a certificate excuses no bad credential beside it`() async throws {
        #expect(try await answer("mtls", token: "tb_unknown") == "caller_unauthenticated")
        // Nor another tenant's token, since the two say different things.
        #expect(try await answer("mtls", token: "tb_rival") == "caller_not_allowed")
        #expect(try await answer("rivals", token: "tb_good") == "caller_not_allowed")
        var call = MintCall()
        call.clientId = "mtls"
        call.set("X-Test-Certificate", "backend")
        call.set("DPoP", "a.b.c")
        #expect(try await broker.send(call).code == "invalid_dpop_proof")
    }

    @Test func `a proof beside it is used up, whether or not the gate asked for one`() async throws
    {
        var call = MintCall.proof(try broker.proof(install), jkt: install.jkt)
        call.clientId = "mtls"
        call.set("X-Test-Certificate", "backend")
        #expect(try await broker.send(call).status == 200)
        #expect(try await broker.send(call).code == "invalid_dpop_proof")
        call.clientId = "and-dpop"
        #expect(try await broker.send(call).code == "invalid_dpop_proof")
        call.clientId = "or-token"
        call.set("Authorization", "Bearer tb_good")
        #expect(try await broker.send(call).code == "invalid_dpop_proof")
    }

    @Test func `one field does not make a certificate`() async throws {
        var call = MintCall()
        call.clientId = "mtls"
        call.set("Client-Cert", ":AAAA:")
        call.set("X-SSL-Client-S-DN", "CN=backend.bank.example")
        call.set("X-Client-Cert", "backend.bank.example")
        #expect(try await broker.send(call).code == "caller_unauthenticated")
    }

    @Test func `the log has the thumbprint, whatever became of the request`() async throws {
        let digest = String(repeating: "ab", count: 32)
        _ = try await answer("mtls")
        _ = try await answer("nobody")
        _ = try await answer("mtls", certificate: nil)
        // Refused by the head alone.
        var call = MintCall()
        call.set("X-Test-Certificate", "backend")
        call.set("Content-Type", "text/plain")
        #expect(try await broker.send(call).status == 415)
        let events = try await broker.log.events("assertion.")
        #expect(events.map { $0["certificate_sha256"]?.string } == [digest, digest, nil, digest])
        #expect(events.map { $0["gate"]?.string } == ["mtls", nil, nil, nil])
        #expect(events[0]["jkt_proven"]?.bool == false)
        try await LogSchema.check(try await broker.log.lines())
    }
}
