import TestKit
import Testing

@testable import SocketServer

/// Client certificates that a trusted proxy hands on.
@Suite struct ForwardedCertificateTests {
    private static let names = TLSClientCertificateTests.backendNames

    private func proxies(
        _ form: ForwardedCertificates.Form?, authorities: String = "root", lists: String? = nil,
        range: String = "127.0.0.0/8"
    ) async throws -> TrustedProxies {
        let certificates = try await TestCertificates.shared()
        return TrustedProxies(
            ranges: [try #require(AddressRange(range))], field: .forwarded,
            certificates: form.map {
                ForwardedCertificates(
                    form: $0, authorityFile: certificates.file(authorities),
                    revocationFile: lists.map(certificates.file))
            })
    }

    private func ask(_ server: TestServer, _ fields: String) async throws -> [Answer] {
        try await server.answers(
            to: "GET /certificate HTTP/1.1\r\nHost: a\r\n\(fields)Connection: close\r\n\r\n")
    }

    /// As nginx escapes a variable: everything but letters, digits and `-._~`.
    private func escaped(_ text: String) -> String {
        text.utf8.map { octet in
            let isPlain =
                octet.isAlphanumeric || "-._~".utf8.contains(octet)
            let digits = String(octet, radix: 16, uppercase: true)
            return isPlain
                ? String(decoding: [octet], as: UTF8.self)
                : "%" + (digits.count == 1 ? "0" : "") + digits
        }.joined()
    }

    @Test func `a good certificate counts in either form, with its chain where there is one`()
        async throws
    {
        let certificates = try await TestCertificates.shared()
        let standard = try TestServer { [proxies = try await proxies(.clientCert)] in
            $0.trustedProxies = proxies
        }
        let nginx = try TestServer { [proxies = try await proxies(.escapedPEM(field: "x-cert"))] in
            $0.trustedProxies = proxies
        }
        let good = try certificates.base64("good")[0]
        let below = try certificates.base64("by-issuing")
        let digests = try await [digest("good"), digest("by-issuing")]
        for (server, fields, digest) in [
            (standard, "Client-Cert: :\(good):\r\n", digests[0]),
            (
                standard,
                "Client-Cert: :\(below[0]):\r\nClient-Cert-Chain: :\(below[1]):\r\n",
                digests[1]
            ),
            (
                standard,
                "Client-Cert-Chain: :\(good): ,\t:\(good):\r\nClient-Cert-Chain: :\(below[1]):\r\n"
                    + "Client-Cert: :\(below[0]):\r\n",
                digests[1]
            ),
            (nginx, "X-Cert: \(escaped(try certificates.pem("good")))\r\n", digests[0]),
            (nginx, "X-Cert: \(escaped(try certificates.pem("by-issuing")))\r\n", digests[1]),
        ] {
            // The second time from memory.
            for _ in 1...2 {
                let answers = try await ask(server, fields)
                let lines = answers.first?.body.split(separator: "\n").map(String.init)
                #expect(lines == [digest] + Self.names)
            }
        }
        #expect(try await ask(standard, "").first?.body == "none")
        await standard.stop()
        await nginx.stop()
    }

    @Test func `what is not good is 400 and the end, never ignored`() async throws {
        let certificates = try await TestCertificates.shared()
        let proxies = try await proxies(.clientCert)
        let server = try TestServer { $0.trustedProxies = proxies }
        // Too large for any head.
        for name in TLSClientCertificateTests.bad where name != "huge" {
            let chain = try certificates.base64(name)
            let rest = chain.dropFirst().map { ":\($0):" }.joined(separator: ", ")
            let fields =
                "Client-Cert: :\(chain[0]):\r\n"
                + (rest.isEmpty ? "" : "Client-Cert-Chain: \(rest)\r\n")
            let answers = try await server.answers(
                to: "GET /certificate HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\(RawInput.second)")
            #expect(answers.map(\.status) == [400], "\(name)")
            #expect(answers.last?.wasLast == true)
            #expect(answers.last?.body == "clientCertificateRefused", "\(name)")
        }
        #expect(server.handler.handled.isEmpty)
        await server.stop()
    }

    @Test func `what is malformed is 400 and the end`() async throws {
        let certificates = try await TestCertificates.shared()
        let proxies = try await proxies(.clientCert)
        let server = try TestServer { $0.trustedProxies = proxies }
        let good = try certificates.base64("good")[0]
        let unpadded = good.split(separator: "=").joined()
        let fields = [
            "Client-Cert: \(good)", "Client-Cert: :\(good)", "Client-Cert: \(good):",
            "Client-Cert: :\(good)::", "Client-Cert: :\(good): ;a=1", "Client-Cert: :\(good):;a",
            "Client-Cert: :\(good):, :\(good):", "Client-Cert: :\(good):,",
            "Client-Cert: \"\(good)\"", "Client-Cert: ", "Client-Cert: :", "Client-Cert: ::",
            "Client-Cert: :AAAA:", "Client-Cert: :\(good.dropLast(4)):",
            "Client-Cert: :AAAA\(good):", "Client-Cert: :\(unpadded)AAAA:",
            "Client-Cert: :\(good.dropFirst()):", "Client-Cert: : \(good):",
            "Client-Cert: :-----BEGIN CERTIFICATE-----:",
            "Client-Cert: :\(good):\r\nClient-Cert: :\(good):",
            "Client-Cert-Chain: :\(good):", "Client-Cert: :\(good):\r\nClient-Cert-Chain: ",
            "Client-Cert: :\(good):\r\nClient-Cert-Chain: :\(good):,",
            "Client-Cert: :\(good):\r\nClient-Cert-Chain: ,:\(good):",
            "Client-Cert: :\(good):\r\nClient-Cert-Chain: :\(good): :\(good):",
            "Client-Cert: :\(good):\r\nClient-Cert-Chain: :\(good):;a=1",
        ]
        for field in fields {
            let answers = try await ask(server, field + "\r\n")
            #expect(answers.map(\.body) == ["malformedForwarding"], "\(field.prefix(60))")
            #expect(answers.last?.wasLast == true)
        }
        await server.stop()
    }

    @Test func `escaped PEM that is malformed is 400 and the end`() async throws {
        let certificates = try await TestCertificates.shared()
        let proxies = try await proxies(.escapedPEM(field: "x-cert"))
        let server = try TestServer { $0.trustedProxies = proxies }
        let pem = try certificates.pem("good")
        let good = escaped(pem)
        let values = [
            "", pem.split(separator: "\n").joined(separator: " "), "\(good)%", "\(good)%4",
            "\(good)%zz",
            good + " ", String(good.dropFirst()), String(good.dropLast(40)), "%20" + good,
            escaped("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            escaped("-----BEGIN CERTIFICATE-----\n"), ":\(try certificates.base64("good")[0]):",
            good.split(separator: "%0A").joined(),
        ]
        for value in values where value != good + " " {
            let answers = try await ask(server, "X-Cert: \(value)\r\n")
            #expect(answers.map(\.body) == ["malformedForwarding"], "\(value.prefix(60))")
        }
        let twice = try await ask(server, "X-Cert: \(good)\r\nX-Cert: \(good)\r\n")
        #expect(twice.map(\.body) == ["malformedForwarding"])
        await server.stop()
    }

    @Test func `nobody else's field is looked at, and no field of another form`() async throws {
        let certificates = try await TestCertificates.shared()
        let good = try certificates.base64("good")[0]
        let fields = "Client-Cert: :\(good):\r\n"
        for proxies in [
            nil, try await proxies(nil), try await proxies(.clientCert, range: "192.0.2.0/24"),
            try await proxies(.escapedPEM(field: "x-cert")),
        ] {
            let server = try TestServer { $0.trustedProxies = proxies }
            #expect(try await ask(server, fields).first?.body == "none")
            #expect(try await ask(server, "Client-Cert: broken\r\n").first?.body == "none")
            await server.stop()
        }
    }

    @Test func `lists count, time counts, and what is remembered goes with a change of either`()
        async throws
    {
        let certificates = try await TestCertificates.shared()
        let (proxies, clock) = (try await proxies(.clientCert), TestClock())
        let server = try TestServer {
            $0.trustedProxies = proxies
            $0.now = { clock.now }
        }
        let revoked = "Client-Cert: :\(try certificates.base64("revoked")[0]):\r\n"
        let short = "Client-Cert: :\(try certificates.base64("short")[0]):\r\n"
        #expect(try await ask(server, revoked).map(\.status) == [200])
        #expect(try await ask(server, short).map(\.status) == [200])
        clock.advance(3601)
        #expect(try await ask(server, short).map(\.body) == ["clientCertificateRefused"])
        var form = try #require(proxies.certificates)
        form.revocationFile = certificates.file("lists")
        let prepared = try server.server.prepare(form)
        #expect(try await ask(server, revoked).map(\.status) == [200])
        server.server.use(prepared)
        #expect(try await ask(server, revoked).map(\.body) == ["clientCertificateRefused"])
        form.authorityFile = certificates.file("good")
        #expect(throws: ServerError.self) { try server.server.prepare(form) }
        await server.stop()
    }

    @Test func `a server that takes none prepares none`() async throws {
        let certificates = try await TestCertificates.shared()
        let server = try TestServer()
        #expect(throws: ServerError.self) {
            try server.server.prepare(
                ForwardedCertificates(form: .clientCert, authorityFile: certificates.file("root")))
        }
        await server.stop()
    }

    @Test(
        arguments: [
            ("", []), ("AA==", [0]), ("AAE=", [0, 1]), ("AAEC", [0, 1, 2]),
            ("+/+/", [0xFB, 0xFF, 0xBF]),
            ("A", nil), ("AA", nil), ("AA=", nil), ("AB==", nil), ("AAF=", nil), ("A===", nil),
            ("====", nil), ("AA==AA==", nil), ("-_-_", nil), ("AA\n=", nil), ("AAAA=", nil),
            ("=AAA", nil),
        ] as [(String, [UInt8]?)])
    func `base64 is what an encoder makes and nothing else`(text: String, octets: [UInt8]?) {
        #expect(Base64.decode(Array(text.utf8)[...]) == octets)
    }

    private func digest(_ name: String) async throws -> String {
        let certificates = try await TestCertificates.shared()
        let result = try await Command.run(
            "openssl",
            ["x509", "-in", certificates.file(name), "-noout", "-fingerprint", "-sha256"])
        let hex = result.output.split(separator: "=")[1].filter { $0.isHexDigit }
        return hex.lowercased()
    }
}
