import Testing

@testable import SocketServer

/// `Strict-Transport-Security` (RFC 6797): clients that met this server over TLS ask it in no other way.
@Suite struct TransportSecurityTests {
    private static let field = "strict-transport-security: max-age=31536000\r\n"

    /// Answers of the handler, its refusal of a head, and the server's own refusal.
    private func answers(_ base: String, _ options: [String] = []) async throws -> [String] {
        var answers: [String] = []
        for path in ["/hello", "/refuse", "/a/../b"] {
            let result = try await Command.run(
                "curl",
                ["-sS", "--path-as-is", "-D", "-", "-o", "/dev/null"] + options + [base + path])
            #expect(result.status == 0, "\(result.errors)")
            answers.append(result.output)
        }
        #expect(answers.map { $0.prefix(12) } == ["HTTP/1.1 200", "HTTP/1.1 404", "HTTP/1.1 400"])
        return answers.map { $0.lowercased() }
    }

    @Test func `over TLS every answer says so, once, refusals too`() async throws {
        let identity = try await TestIdentity()
        let server = try TestServer(tls: identity.configuration)
        let answers = try await answers(
            "https://127.0.0.1:\(server.port)", ["--cacert", identity.certificate])
        for answer in answers {
            #expect(answer.contains("\r\n" + Self.field))
            #expect(answer.ranges(of: "strict-transport-security").count == 1)
        }
        await server.stop()
    }

    @Test func `over plain HTTP no answer does`() async throws {
        let server = try TestServer()
        for answer in try await answers("http://127.0.0.1:\(server.port)") {
            #expect(!answer.contains("strict-transport-security"))
        }
        await server.stop()
    }

    /// The connection to the proxy's client is the proxy's to promise for.
    @Test func `behind a proxy that ends TLS no answer does`() async throws {
        let range = try #require(AddressRange("127.0.0.1/32"))
        let server = try TestServer {
            $0.trustedProxies = TrustedProxies(ranges: [range], field: .forwarded)
        }
        let answers = try await answers(
            "http://127.0.0.1:\(server.port)", ["-H", "Forwarded: for=192.0.2.1;proto=https"])
        for answer in answers { #expect(!answer.contains("strict-transport-security")) }
        await server.stop()
    }
}
