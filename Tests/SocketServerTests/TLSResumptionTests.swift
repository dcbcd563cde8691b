import TestKit
import Testing

@testable import SocketServer

/// Tickets as `openssl s_client` saves and shows them.
@Suite struct TLSResumptionTests {
    static let versions = ["-tls1_2", "-tls1_3"]

    @Test(arguments: versions)
    func `a ticket brings back the session and its verified certificate`(version: String)
        async throws
    {
        let world = try await World(version)
        let first = try await world.visit(.full)
        let again = try await world.visit(.resuming)
        #expect(first.isNew)
        #expect(again.isReused)
        #expect(first.body.contains(#"dns("backend.bank.example")"#))
        #expect(first.body == again.body)
        await world.server.stop()
    }

    @Test(arguments: versions)
    func `a ticket without a certificate brings none`(version: String) async throws {
        let world = try await World(version, client: nil)
        #expect(try await world.visit(.full).body == "none")
        let again = try await world.visit(.resuming)
        #expect(again.isReused)
        #expect(again.body == "none")
        await world.server.stop()
    }

    @Test(arguments: versions)
    func `a ticket outlives its key's turn, is renewed, and ends with its hour`(version: String)
        async throws
    {
        let world = try await World(version)
        world.clock.advance(-3000)
        _ = try await world.visit(.full, keeps: "old")
        world.clock.advance(3599)
        #expect(try await world.visit(.resuming, from: "old", keeps: "new").isReused)
        world.clock.advance(1)
        let late = try await world.visit(.resuming, from: "old")
        #expect(late.isNew)
        #expect(late.body.contains("backend.bank.example"))
        // What came with the resumption is of its own hour, where a new one comes at all.
        if version == "-tls1_3" {
            #expect(try await world.visit(.resuming, from: "new").isReused)
        }
        await world.server.stop()
    }

    @Test(arguments: versions)
    func `a ticket of the key before still resumes, and brings one of the key that seals now`(
        version: String
    ) async throws {
        let world = try await World(version)
        _ = try await world.visit(.full, keeps: "first")
        world.clock.advance(3000)
        _ = try await world.visit(.full, keeps: "second")
        world.clock.advance(1000)
        // The first key's turn is over. With TLS 1.2 the command keeps no session that came with a resumption.
        let renewed = try await world.visit(.resuming, from: "second", keeps: "third")
        #expect(renewed.isReused)
        world.clock.advance(3400)
        // The first key is gone, and the second ticket would be too old anyway. The third is of the second key.
        if version == "-tls1_3" {
            #expect(try await world.visit(.resuming, from: "third").isReused)
        }
        #expect(try await world.visit(.resuming, from: "first").isNew)
        await world.server.stop()
    }

    @Test(arguments: versions)
    func `a certificate that has expired since does not come back in a ticket`(version: String)
        async throws
    {
        let world = try await World(version, client: "short")
        let end = try world.clientNotAfter("short")
        world.clock.advance(end - world.clock.now - 2400)
        #expect(try await world.visit(.full).isNew)
        world.clock.advance(2400)
        #expect(try await world.visit(.resuming).isReused)
        world.clock.advance(1)
        let late = try await world.visit(.resuming)
        #expect(late.body == "")
        #expect(late.errors.contains("alert certificate expired"))
        await world.server.stop()
    }

    @Test(arguments: versions)
    func `revocation lists that have run out since end the tickets too`(version: String)
        async throws
    {
        let world = try await World(version, lists: "lists")
        let end = try #require(world.server.server.tls?.revocationNotAfter)
        world.clock.advance(end - world.clock.now - 100)
        #expect(try await world.visit(.full).isNew)
        world.clock.advance(100)
        #expect(try await world.visit(.resuming).isReused)
        world.clock.advance(1)
        let late = try await world.visit(.resuming)
        #expect(late.body == "")
        #expect(late.errors.contains("alert"))
        await world.server.stop()
    }

    @Test(arguments: versions)
    func `no ticket outlives a reload: other authorities and new lists act at once`(
        version: String
    ) async throws {
        let world = try await World(version, client: "revoked")
        _ = try await world.visit(.full)
        #expect(try await world.visit(.resuming).isReused)
        try world.server.server.reload(world.configuration(authorities: "root", lists: "lists"))
        let revoked = try await world.visit(.resuming)
        #expect(revoked.body == "")
        #expect(revoked.errors.contains("alert certificate revoked"))
        try world.server.server.reload(world.configuration(authorities: "other-root"))
        #expect(try await world.visit(.resuming).errors.contains("alert unknown ca"))
        try world.server.server.reload(world.configuration(authorities: "root"))
        #expect(try await world.visit(.resuming).isNew)
        await world.server.stop()
    }

    @Test(arguments: versions)
    func `another server's tickets are worth nothing`(version: String) async throws {
        let (one, other) = (try await World(version), try await World(version))
        _ = try await one.visit(.full)
        let visit = try await other.visit(.resuming, from: one.directory.file("session"))
        #expect(visit.isNew)
        #expect(visit.body.contains("backend.bank.example"))
        await one.server.stop()
        await other.server.stop()
    }

    @Test func `nothing is taken early, compressed or renegotiated`() async throws {
        let world = try await World("-tls1_3", client: nil)
        let first = try await world.visit(.full)
        #expect(first.output.contains("Max Early Data: 0"))
        #expect(first.output.contains("Compression: NONE"))
        let asked = try await Command.run(
            "openssl", ["s_client", "-tls1_2", "-connect", "127.0.0.1:\(world.server.port)"],
            input: "R\n")
        #expect(asked.errors.contains("no renegotiation"), "\(asked.errors)")
        await world.server.stop()
    }
}

/// A server on a clock of the test's own, and one client of it.
private struct World {
    enum Way { case full, resuming }

    struct Visit {
        var output: String
        var errors: String
        var isNew: Bool { output.contains("\nNew, TLSv1.") }
        var isReused: Bool { output.contains("\nReused, TLSv1.") }
        /// What stands between the answer's head and the end of the connection.
        var body: String {
            guard let head = output.firstRange(of: "Content-Length: "),
                let end = output[head.upperBound...].firstRange(of: "\r\n\r\n"),
                let length = Int(output[head.upperBound...].prefix { $0.isNumber })
            else { return "" }
            return String(decoding: output[end.upperBound...].utf8.prefix(length), as: UTF8.self)
        }
    }

    let server: TestServer
    let clock = TestClock()
    let directory: TemporaryDirectory
    private let certificates: TestCertificates
    private let options: [String]

    init(_ version: String, client: String? = "good", lists: String? = nil) async throws {
        let certificates = try await TestCertificates.shared()
        self.certificates = certificates
        directory = try TemporaryDirectory()
        options =
            [version]
            + (client.map { ["-cert", certificates.file($0), "-key", certificates.file($0)] } ?? [])
        let clock = clock
        var configuration = certificates.configuration(authorities: "root", lists: lists)
        configuration.now = { clock.now }
        server = try TestServer(tls: configuration)
    }

    func configuration(authorities: String, lists: String? = nil) -> TLSConfiguration {
        var configuration = certificates.configuration(authorities: authorities, lists: lists)
        configuration.now = { [clock] in clock.now }
        return configuration
    }

    /// The last second of a client's certificate.
    func clientNotAfter(_ name: String) throws -> Int64 {
        let file = try TLSFile(certificates.file(name))
        return try #require(try PEM.certificates(in: file.octets, atMost: 9).first?.notAfter)
    }

    /// One request on a connection of its own.
    /// - Parameter session: a file name in this world's directory, or a path.
    func visit(
        _ way: Way, from session: String = "session", keeps kept: String = "session"
    ) async throws -> Visit {
        func path(_ name: String) -> String { name.hasPrefix("/") ? name : directory.file(name) }
        var options = options + ["-ign_eof", "-connect", "127.0.0.1:\(server.port)"]
        switch way {
        case .full: options += ["-sess_out", path(kept)]
        case .resuming:
            options += ["-sess_in", path(session)]
            if kept != "session" { options += ["-sess_out", path(kept)] }
        }
        let result = try await Command.run(
            "openssl", ["s_client"] + options,
            input: "GET /certificate HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        return Visit(output: result.output, errors: result.errors)
    }
}
