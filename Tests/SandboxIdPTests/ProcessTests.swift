import DPoPResource
import Foundation
import Glibc
import HTTPClient
import JOSE
import TestKit
import Testing

@testable import SandboxIdP

/// The program itself, over TLS, as `script/server` starts it.
@Suite struct ProcessTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// A certificate for loopback that is its own authority.
    func makeCertificate() async throws {
        try await runChecked([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-days", "1", "-subj", "/CN=localhost", "-addext",
            "subjectAltName=IP:127.0.0.1", "-keyout", directory.file("key.pem"), "-out",
            directory.file("cert.pem"),
        ])
    }

    func configuration(jwks: String = "https://127.0.0.1:1/jwks") throws -> String {
        try directory.write(
            Array(
                """
                { // a comment is allowed
                  "listen": {"address": "127.0.0.1", "port": 0},
                  "issuer": "https://idp.example",
                  "tls": {"certificate_file": "\(directory.file("cert.pem"))", "key_file": "\(directory.file("key.pem"))"},
                  "ca_file": "\(directory.file("cert.pem"))",
                  "clients": [{"client_id": "app", "jwks_uri": "\(jwks)",
                    "redirect_uris": ["https://app.example/cb"], "first_party_challenge_enabled": true}],
                }
                """.utf8), to: "config.json")
    }

    /// The program beside the running test bundle.
    static var program: String {
        let bundle = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        return bundle.deletingLastPathComponent().appendingPathComponent("sandbox-idp").path
    }

    @Test
    func
        `it serves over TLS, fetches keys over TLS, says when it is ready and ends with 0 on SIGTERM`()
        async throws
    {
        try await makeCertificate()
        let key = try PrivateKey.generate(.ES256)
        let publisher = try KeyPublisher(
            JWKSet([Sandbox.named(key, "k1")]), certificate: directory.file("cert.pem"),
            key: directory.file("key.pem"))
        let config = try configuration(jwks: "https://127.0.0.1:\(publisher.port)/jwks")
        let process = try RunningProcess(
            [Self.program, "serve", "--config", config],
            environment: ProcessInfo.processInfo.environment)
        let line = try await process.line { _ in true }
        let ready = try JSONValue(parsing: Array(line.utf8))
        #expect(ready["event"]?.string == "sandbox.ready")
        #expect(ready["issuer"]?.string == "https://idp.example")
        let port = try #require(ready["port"]?.integer)

        let http = HTTPClient(
            configuration: HTTPClientConfiguration(caFile: directory.file("cert.pem")))
        let attempt = try start(key)
        let outcome = await http.send(
            method: "POST", url: "https://127.0.0.1:\(port)/challenge",
            headers: try attempt.fields(), body: try attempt.octets())
        guard case .answer(let answer) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(Reply(answer).error == "insufficient_authorization")
        #expect(publisher.requests == 1)

        process.signal(SIGTERM)
        #expect(await process.status() == 0)
        await publisher.stop()
    }

    private func start(_ key: PrivateKey) throws -> Attempt {
        let now = Int64(Date().timeIntervalSince1970)
        let install = try PrivateKey.generate(.ES256)
        return Attempt(
            path: "/challenge",
            form: [
                ("response_type", "code"), ("login_hint", "ada@example.com"),
                ("code_challenge", Base64URL.encode(SHA256.hash("x".utf8))),
                ("code_challenge_method", "S256"),
                ("client_assertion_type", ClientCredential.assertionType),
            ],
            assertion: JWTParts(
                header: ["alg": "\"ES256\"", "kid": "\"k1\""],
                claims: [
                    "iss": "\"app\"", "sub": "\"app\"", "aud": "\"https://idp.example\"",
                    "exp": "\(now + 60)", "jti": "\"1\"",
                ], signer: key),
            proof: JWTParts(
                header: [
                    "alg": "\"ES256\"", "typ": "\"dpop+jwt\"",
                    "jwk": install.publicJWK.jsonText(asSigningKey: false),
                ],
                claims: [
                    "jti": "\"1\"", "htm": "\"POST\"", "iat": "\(now)",
                    "htu": "\"https://idp.example/challenge\"",
                ], signer: install))
    }

    @Test(arguments: [(302, JWKSFault.unreachable), (404, .unreachable), (500, .unreachable)])
    func `an answer other than 200 is no key set, and no redirect is followed`(
        status: Int, fault: JWKSFault
    ) async throws {
        try await makeCertificate()
        let publisher = try KeyPublisher(
            JWKSet([]), status: status, certificate: directory.file("cert.pem"),
            key: directory.file("key.pem"))
        let fetcher = HTTPJWKSFetcher(caFile: directory.file("cert.pem"))
        await #expect(throws: fault) {
            try await fetcher.fetch("https://127.0.0.1:\(publisher.port)/jwks")
        }
        #expect(publisher.requests == 1)
        await publisher.stop()
    }

    @Test func `a publisher that another authority vouches for is not believed`() async throws {
        try await makeCertificate()
        let publisher = try KeyPublisher(
            JWKSet([]), certificate: directory.file("cert.pem"), key: directory.file("key.pem"))
        await #expect(throws: JWKSFault.unreachable) {
            try await HTTPJWKSFetcher(caFile: nil).fetch(
                "https://127.0.0.1:\(publisher.port)/jwks")
        }
        #expect(publisher.requests == 0)
        await publisher.stop()
    }

    @Test func `--help explains, a wrong word is 2, a bad file is 1 with every fault named`()
        async throws
    {
        let help = try await runProcess([Self.program, "--help"])
        #expect(help.status == 0)
        #expect(help.outputText.contains("serve --config FILE"))
        #expect(try await runProcess([Self.program, "run"]).status == 2)
        let file = try directory.write(Array("{\"colour\":1}".utf8), to: "bad.json")
        let bad = try await runProcess([Self.program, "serve", "--config", file])
        #expect(bad.status == 1)
        for place in ["colour", "issuer", "clients", "listen.port", "tls.key_file"] {
            #expect(bad.errorText.contains("\(place): "))
        }
        #expect(bad.output.isEmpty)
        let missing = try await runProcess([Self.program, "serve", "--config", "/nowhere"])
        #expect(missing.status == 1)
    }

    @Test func `a taken port is a clear error`() async throws {
        try await makeCertificate()
        let publisher = try KeyPublisher(
            JWKSet([]), certificate: directory.file("cert.pem"), key: directory.file("key.pem"))
        let config = try configuration()
        let text = String(decoding: try directory.read("config.json"), as: UTF8.self)
        try directory.write(
            Array(text.replacing("\"port\": 0", with: "\"port\": \(publisher.port)").utf8),
            to: "config.json")
        let result = try await runProcess([Self.program, "serve", "--config", config])
        #expect(result.status == 1)
        #expect(result.errorText.contains("cannot listen on 127.0.0.1 port \(publisher.port)"))
        await publisher.stop()
    }
}
