import TestKit
import Testing

@testable import SocketServer

@Suite struct TLSClientCertificateTests {
    static let versions = ["1.2", "1.3"]
    static let backendNames = [
        #"dns("backend.bank.example")"#, #"email("Ops@bank.example")"#, "ip(192.0.2.7)",
        "ip(2001:db8::7)", #"uri("spiffe://bank.example/Backend")"#,
    ]

    @Test func `a good certificate reaches the handler with its SHA-256 and its names`()
        async throws
    {
        let certificates = try await TestCertificates.shared()
        let server = try TestServer(tls: certificates.configuration(authorities: "root"))
        let names = Self.backendNames
        let good: [(String, [String])] = [
            ("good", names), ("by-issuing", names), ("no-usage", names), ("two-usages", names),
            ("rsa", names), ("ed25519", names), ("no-names", []),
            ("most-names", (0..<64).map { #"dns("n\#($0).bank.example")"# }.sorted()),
        ]
        let questions = good.flatMap { file, _ in Self.versions.map { ($0, Optional(file)) } }
        let told = try await certificates.ask(server, questions)
        try #require(told.count == questions.count)
        for (question, (answer, expected)) in zip(questions, zip(told, good.flatMap { [$0, $0] })) {
            guard case .answered(let sha256, let body) = answer else {
                Issue.record("\(question): \(answer)")
                continue
            }
            let lines = body.split(separator: "|").map(String.init)
            #expect(lines == [sha256] + expected.1, "\(question)")
        }
        await server.stop()
    }

    @Test(arguments: versions)
    func `a client without a certificate is served`(version: String) async throws {
        let certificates = try await TestCertificates.shared()
        let server = try TestServer(tls: certificates.configuration(authorities: "root"))
        let told = try await certificates.ask(server, [(version: version, client: nil)])
        #expect(told == [.answered(sha256: "", body: "none")])
        await server.stop()
    }

    @Test(arguments: versions)
    func `a server without authorities asks nobody, and so believes nobody`(version: String)
        async throws
    {
        let certificates = try await TestCertificates.shared()
        let server = try TestServer(tls: certificates.configuration())
        for client in ["good", "self-signed"] {
            let told = try await certificates.ask(server, [(version: version, client: client)])
            guard case .answered(_, "none") = try #require(told.first) else {
                Issue.record("\(told)")
                continue
            }
        }
        await server.stop()
    }

    static let bad = [
        "self-signed", "unknown-authority", "forged-authority", "expired", "not-yet-valid",
        "server-usage", "any-usage", "broken-signature", "weak-rsa", "p224", "sha1",
        "by-no-authority", "without-issuing", "deep", "nul-in-dns", "nul-in-uri", "nul-in-email",
        "blank-in-dns", "empty-dns", "odd-address", "broken-names", "high-octet-in-dns",
        "many-names", "long-name", "huge",
    ]

    /// Python's ssl does not even load the one with broken names, and in TLS 1.3 it has no algorithm to sign with by P-224, so
    /// it shows nothing. A proxy may hand them on all the same.
    static func badInHandshakes(_ version: String) -> [String] {
        bad.filter { $0 != "broken-names" && (version == "1.2" || $0 != "p224") }
    }

    @Test(arguments: versions)
    func `a certificate that is not good ends the handshake with an alert`(version: String)
        async throws
    {
        let certificates = try await TestCertificates.shared()
        let server = try TestServer(tls: certificates.configuration(authorities: "root"))
        let bad = Self.badInHandshakes(version)
        let told = try await certificates.ask(
            server, bad.map { (version: version, client: $0) })
        try #require(told.count == bad.count)
        for (client, answer) in zip(bad, told) {
            #expect(answer.isAlert, "\(client): \(answer)")
        }
        #expect(server.handler.handled.isEmpty)
        // The door still stands.
        #expect(try await certificates.ask(server, "good")?.isAnswered == true)
        await server.stop()
    }

    @Test(arguments: [
        ("expired", "certificate has expired"), ("revoked", "certificate revoked"),
        ("weak-rsa", "EE certificate key too weak"),
        ("nul-in-dns", "unsupported or invalid name syntax"),
    ])
    func `operations are told why, and nothing of the certificate`(client: String, reason: String)
        async throws
    {
        let certificates = try await TestCertificates.shared()
        let events = Locked<[ServerEvent]>([])
        let server = try TestServer(
            tls: certificates.configuration(authorities: "root", lists: "lists-root-only")
        ) { $0.observe = { event in events.withLock { $0.append(event) } } }
        #expect(try await certificates.ask(server, client)?.isAlert == true)
        #expect(
            events.withLock(\.self) == [.clientCertificateRefused(.loopback, reason: reason)])
        await server.stop()
    }

    @Test(arguments: [
        ("root", ["good", "by-issuing"], ["without-issuing", "unknown-authority"]),
        ("issuing-only", ["by-issuing", "without-issuing"], ["good", "unknown-authority"]),
        ("both-roots", ["good", "by-issuing", "unknown-authority"], ["forged-authority"]),
        ("other-root", ["unknown-authority"], ["good", "by-issuing", "without-issuing"]),
    ])
    func `exactly the authorities in the file are trusted`(
        authorities: String, good: [String], bad: [String]
    ) async throws {
        let certificates = try await TestCertificates.shared()
        let server = try TestServer(tls: certificates.configuration(authorities: authorities))
        let told = try await certificates.ask(
            server, (good + bad).map { (version: "1.3", client: $0) })
        #expect(told.map(\.isAnswered) == good.map { _ in true } + bad.map { _ in false })
        await server.stop()
    }

    @Test(arguments: [
        ("root", "lists", ["good", "by-issuing"], ["revoked", "revoked-below"]),
        ("root", "lists-root-only", ["good"], ["revoked", "by-issuing", "revoked-below"]),
        ("root", "lists-issuing-only", [], ["good", "by-issuing"]),
        ("root", "lists-issuing-revoked", ["good"], ["by-issuing", "revoked-below"]),
        ("root", "lists-expired", [], ["good", "by-issuing"]),
        ("root", "lists-later", [], ["good", "by-issuing"]),
        // The authority itself needs no list: the operator's file names it.
        ("issuing-only", "lists-issuing-only", ["by-issuing"], ["revoked-below", "good"]),
        ("issuing-only", "lists-root-only", [], ["by-issuing"]),
    ])
    func `with revocation lists every certificate needs a current one and must not be in it`(
        authorities: String, lists: String, good: [String], bad: [String]
    ) async throws {
        let certificates = try await TestCertificates.shared()
        let server = try TestServer(
            tls: certificates.configuration(authorities: authorities, lists: lists))
        let questions = (good + bad).flatMap { client in
            Self.versions.map { ($0, Optional(client)) }
        }
        let told = try await certificates.ask(server, questions)
        #expect(
            told.map(\.isAnswered)
                == good.flatMap { _ in [true, true] } + bad.flatMap { _ in [false, false] },
            "\(told)")
        // Who shows nothing has nothing revoked.
        #expect(try await certificates.ask(server, nil)?.isAnswered == true)
        await server.stop()
    }

    @Test func `curl shows its certificate, and openssl is told whose are taken`() async throws {
        let certificates = try await TestCertificates.shared()
        let server = try TestServer(tls: certificates.configuration(authorities: "both-roots"))
        let result = try await Command.run(
            "curl",
            [
                "-sv", "--cacert", certificates.file("root"), "--cert", certificates.file("good"),
                "https://127.0.0.1:\(server.port)/certificate",
            ])
        #expect(result.output.contains(#"dns("backend.bank.example")"#), "\(result.errors)")
        let asked = try await Command.run(
            "openssl", ["s_client", "-connect", "127.0.0.1:\(server.port)"])
        #expect(asked.output.contains("CN = Other Root\nCN = Client Root"))
        await server.stop()
    }

    @Test(arguments: [0, 1, 40])
    func `a greeting without end is cut off long before its deadline`(extra: Int) async throws {
        let certificates = try await TestCertificates.shared()
        let server = try TestServer(tls: certificates.configuration(authorities: "root"))
        let port = server.port
        // A ClientHello of 130,000 octets, which OpenSSL would wait for, in records of 16,384.
        let start: [UInt8] = [1, 0x01, 0xFB, 0xD0, 3, 3]
        let body = start + [UInt8](repeating: 7, count: 120_000 + extra)
        let answer = try await offPool {
            let client = try RawClient(port: port)
            for record in stride(from: 0, to: body.count, by: 16_384) {
                let part = body[record..<min(record + 16_384, body.count)]
                client.send([22, 3, 1, UInt8(part.count >> 8), UInt8(part.count & 255)] + part)
            }
            return (try? client.readToEnd()) ?? []
        }
        #expect(!answer.starts(with: "HTTP".utf8))
        await server.untilEmpty()
        await server.stop()
    }
}
