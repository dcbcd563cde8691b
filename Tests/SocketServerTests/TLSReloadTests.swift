import TestKit
import Testing

@testable import SocketServer

@Suite struct TLSReloadTests {
    @Test func `what is prepared changes nothing until it is used`() async throws {
        let certificates = try await TestCertificates.shared()
        let server = try TestServer(tls: certificates.configuration(authorities: "root"))
        let prepared = try server.server.prepare(
            certificates.configuration(authorities: "other-root"))
        #expect(try await certificates.ask(server, "good")?.isAnswered == true)
        #expect(try await certificates.ask(server, "unknown-authority")?.isAlert == true)
        server.server.use(prepared)
        #expect(try await certificates.ask(server, "good")?.isAlert == true)
        #expect(try await certificates.ask(server, "unknown-authority")?.isAnswered == true)
        await server.stop()
    }

    @Test func `a faulty file is told by prepare, and the server goes on as it was`() async throws {
        let certificates = try await TestCertificates.shared()
        let server = try TestServer(tls: certificates.configuration(authorities: "root"))
        for (authorities, lists) in [("good", nil), ("root", "lists-forged")] {
            #expect(throws: ServerError.self) {
                try server.server.prepare(
                    certificates.configuration(authorities: authorities, lists: lists))
            }
        }
        #expect(try await certificates.ask(server, "good")?.isAnswered == true)
        await server.stop()
    }

    @Test func `prepare tells when certificate and lists end, and takes an expired certificate`()
        async throws
    {
        let certificates = try await TestCertificates.shared()
        let server = try TestServer(tls: certificates.configuration())
        #expect(server.server.tls?.asksForClientCertificates == false)
        #expect(server.server.tls?.revocationNotAfter == nil)
        let end = try await notAfter(certificates.file("server-expired-chain"))
        let prepared = try server.server.prepare(
            certificates.configuration(
                server: "server-expired-chain", authorities: "root", lists: "lists"))
        #expect(prepared.notAfter == end)
        #expect(prepared.asksForClientCertificates)
        let lists = try #require(prepared.revocationNotAfter)
        // A month from now against a day ago.
        let days: Int64 = 31
        #expect(lists == end + days * 86_400)
        await server.stop()
    }

    @Test func `a server of plain HTTP prepares nothing`() async throws {
        let certificates = try await TestCertificates.shared()
        let server = try TestServer()
        #expect(server.server.tls == nil)
        #expect(throws: ServerError.self) {
            try server.server.prepare(certificates.configuration())
        }
        await server.stop()
    }

    /// The outside judge is `date`, of what the `openssl` command prints.
    private func notAfter(_ file: String) async throws -> Int64 {
        let printed = try await Command.run(
            "openssl", ["x509", "-in", file, "-noout", "-enddate"])
        let text = printed.output.dropFirst("notAfter=".count).split(separator: "\n")
        let seconds = try await Command.run("date", ["-d", String(text[0]), "+%s"])
        return try #require(Int64(seconds.output.split(separator: "\n")[0]))
    }
}
