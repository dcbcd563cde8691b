import JOSE
import TestKit
import Testing

@testable import Broker

/// The `mtls` gate end to end: `broker apply`, `broker serve`, and curl with certificates of an authority's.
@Suite struct MTLSServeTests {
    let deployment: Deployment
    let authority: TestAuthority
    let server: (certificate: String, key: String)
    let backend: (certificate: String, key: String)

    init() async throws {
        deployment = try await Deployment()
        authority = try await TestAuthority()
        server = try await authority.sign("server", "IP:127.0.0.1", for: "serverAuth")
        backend = try await authority.sign(
            "backend", "DNS:Backend.Bank.example,URI:spiffe://bank.example/backend",
            for: "clientAuth")
    }

    /// As `sha256sum` and openssl print it, without colons.
    func thumbprint(_ certificate: String) async throws -> String {
        let text = try await runChecked([
            "openssl", "x509", "-in", certificate, "-noout", "-fingerprint", "-sha256",
        ])
        return String(decoding: text, as: UTF8.self).split(separator: "=").last.map {
            $0.filter(\.isHexDigit).lowercased()
        } ?? ""
    }

    /// Declares `by-name`, `by-print` and `with-proof` by `broker apply`, and gives what that said.
    func apply() async throws -> ProcessResult {
        func client(_ gates: String, _ certificate: String) -> String {
            """
            {alg: "ES256", issuers: ["\(Sample.issuer)"], gates: \(gates), certificates: [\(certificate)],
             keys: [{uri: "\(deployment.keyURI)", state: "active"}]}
            """
        }
        let print = try await thumbprint(backend.certificate)
        let file = try deployment.directory.write(
            Array(
                """
                {tenants: {acme: {clients: {
                    "by-name": \(client(#"["mtls"]"#, #"{san_dns: "backend.bank.example"}"#)),
                    "by-print": \(client(#"["mtls", "backend_token"]"#, "{sha256: \"\(print)\"}")),
                    "with-proof": \(client(#"[["mtls", "dpop"]]"#, #"{san_uri: "spiffe://bank.example/backend"}"#)),
                }}}}
                """.utf8), to: "declaration.json5")
        return try await BrokerProgram.run("apply", file, "--database-url", deployment.url)
    }

    func configuration(_ tls: String) throws -> String {
        let urlFile = try deployment.directory.write(Array(deployment.url.utf8), to: "url")
        return try deployment.directory.write(
            Array(
                """
                {listen: {address: "127.0.0.1", port: 0}, public_url: "\(Deployment.publicURL)",
                 lanes: 1, database_url_file: "\(urlFile)", migrations_directory: "\(PostgresCluster.migrations)",
                 tls: {certificate_file: "\(server.certificate)", key_file: "\(server.key)"\(tls)}}
                """.utf8), to: "broker.json5")
    }

    /// curl's exit status, and the answer's status and code.
    func mint(
        _ port: UInt16, _ client: String, with identity: (certificate: String, key: String)? = nil,
        _ more: String...
    ) async throws -> (exit: Int32, answer: String) {
        let certificate = identity.map { ["--cert", $0.certificate, "--key", $0.key] } ?? []
        let body =
            #"{"client_id":"\#(client)","audience":"\#(Sample.issuer)","dpop_jkt":"\#(Sample.jkt)"}"#
        let result = try await runProcess(
            [
                "curl", "--silent", "--max-time", "60", "--cacert", authority.certificate,
                "--header", "Content-Type: application/json", "--data", body,
                "--write-out", "\n%{http_code}", "https://127.0.0.1:\(port)/v1/assertions",
            ] + certificate + more)
        let lines = result.outputText.split(separator: "\n")
        let code = lines.first.flatMap { try? JSONValue(parsing: Array($0.utf8)) }?["code"]?.string
        return (result.status, "\(lines.last ?? "") \(code ?? "")")
    }

    @Test func `a backend mints with its certificate, and nobody with another one`() async throws {
        let applied = try await apply()
        #expect(applied.status == 0)
        #expect(
            applied.errorText.contains(
                "the mtls gates of by-name, by-print, with-proof stay closed on a server without tls.client_authority_file"
            ))
        let broker = try await ServingBroker(
            try configuration(", client_authority_file: \"\(authority.certificate)\""))
        let minted = "200 "
        let stranger = "401 caller_unauthenticated"
        #expect(try await mint(broker.port, "by-name", with: backend) == (0, minted))
        #expect(try await mint(broker.port, "by-print", with: backend) == (0, minted))
        // Known there, but it wants a proof, too.
        #expect(
            try await mint(broker.port, "with-proof", with: backend)
                == (0, "403 caller_not_allowed"))
        #expect(try await mint(broker.port, "nobody", with: backend) == (0, stranger))
        // No certificate at all is still a good handshake, for the other gates.
        #expect(try await mint(broker.port, "by-name") == (0, stranger))
        #expect(
            try await mint(
                broker.port, "by-print", with: nil, "--header",
                "Authorization: Bearer \(deployment.token)") == (0, minted))
        // The same authority's, another name's.
        let other = try await authority.sign(
            "backend.bank.example", "DNS:other.bank.example,DNS:*.bank.example", for: "clientAuth")
        for client in ["by-name", "by-print", "with-proof", "nobody"] {
            #expect(try await mint(broker.port, client, with: other) == (0, stranger))
        }
        // The right name of another authority: not even a handshake.
        let forged = try await TestAuthority().sign(
            "backend", "DNS:backend.bank.example", for: "clientAuth")
        let refused = try await mint(broker.port, "by-name", with: forged)
        #expect(refused.exit != 0)
        #expect(refused.answer == "000 ")
        #expect(await broker.stop() == 0)
        let lines = broker.process.lines
        try await LogSchema.check(lines)
        let print = try await thumbprint(backend.certificate)
        let mints = lines.filter { $0.contains("assertion.minted") }
        #expect(mints.count { $0.contains("\"gate\":\"mtls\"") && $0.contains(print) } == 2)
        #expect(!lines.contains { $0.contains("gate.unusable") })
    }

    @Test func `without a client authority the gate is closed, and the log says so`() async throws {
        #expect(try await apply().status == 0)
        let broker = try await ServingBroker(try configuration(""))
        #expect(
            try await mint(broker.port, "by-name", with: backend)
                == (0, "401 caller_unauthenticated"))
        #expect(
            try await mint(
                broker.port, "by-print", with: backend, "--header",
                "Authorization: Bearer \(deployment.token)") == (0, "200 "))
        #expect(await broker.stop() == 0)
        let lines = broker.process.lines
        try await LogSchema.check(lines)
        let closed = lines.filter { $0.contains("gate.unusable") }
        for client in ["by-name", "by-print", "with-proof"] {
            #expect(closed.contains { $0.contains("\"client_id\":\"\(client)\"") })
        }
    }
}
