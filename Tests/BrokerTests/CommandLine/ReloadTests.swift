import Glibc
import JOSE
import TestKit
import Testing

@testable import Broker

/// SIGHUP: TLS files, signing keys and the declaration anew, all of them or none.
@Suite struct ReloadTests {
    /// Sends SIGHUP and gives the event that says what came of it.
    func reload(_ broker: ServingBroker, number: Int = 1) async throws -> JSONValue {
        broker.process.signal(SIGHUP)
        let lines = try await broker.process.lines(number) {
            $0.contains("\"broker.reloaded\"") || $0.contains("\"broker.reload_refused\"")
        }
        return try JSONValue(parsing: Array(lines[number - 1].utf8))
    }

    @Test func `a new certificate is shown to new connections, open ones go on`() async throws {
        let deployment = try await Deployment()
        let files = try await TLSFiles("first", in: deployment.directory)
        let broker = try await ServingBroker(try deployment.configuration(more: files.member))
        #expect(try await TLSFiles.subject(port: broker.port).hasSuffix("first"))
        _ = try await TLSFiles("second", in: deployment.directory)
        #expect(try await TLSFiles.subject(port: broker.port).hasSuffix("first"))
        #expect(try await reload(broker)["event"]?.string == "broker.reloaded")
        #expect(try await TLSFiles.subject(port: broker.port).hasSuffix("second"))
        #expect(await broker.stop() == 0)
        try await LogSchema.check(broker.process.lines)
    }

    @Test func `a TLS file that cannot be used changes nothing and is named`() async throws {
        let deployment = try await Deployment()
        let files = try await TLSFiles("first", in: deployment.directory)
        let broker = try await ServingBroker(try deployment.configuration(more: files.member))
        _ = try deployment.directory.write(Array("nonsense".utf8), to: "tls.key")
        let refused = try await reload(broker)
        #expect(refused["event"]?.string == "broker.reload_refused")
        #expect(refused["cause"]?.string?.contains(files.key) == true)
        #expect(try await TLSFiles.subject(port: broker.port).hasSuffix("first"))
        // Put right, it is taken without a restart.
        _ = try await TLSFiles("second", in: deployment.directory)
        #expect(try await reload(broker, number: 2)["event"]?.string == "broker.reloaded")
        #expect(try await TLSFiles.subject(port: broker.port).hasSuffix("second"))
        #expect(await broker.stop() == 0)
    }

    @Test(arguments: ["gone", "another", "cut", "readable"])
    func `a signing key that cannot be used any more changes nothing, TLS neither`(fault: String)
        async throws
    {
        let deployment = try await Deployment()
        let files = try await TLSFiles("first", in: deployment.directory)
        let broker = try await ServingBroker(try deployment.configuration(more: files.member))
        _ = try await TLSFiles("second", in: deployment.directory)
        let pem = try deployment.directory.read("app.pem")
        let path = try deployment.directory.write(
            fault == "another"
                ? Array(PrivateKey.generate(.ES256).pkcs8PEM())
                : fault == "cut" ? Array(pem.prefix(pem.count / 2)) : pem, to: "app.pem")
        if fault == "gone" { unlink(path) }
        if fault == "readable" { chmod(path, 0o644) }
        let refused = try await reload(broker)
        #expect(refused["event"]?.string == "broker.reload_refused")
        #expect(refused["cause"]?.string?.contains("client app") == true)
        #expect(try await TLSFiles.subject(port: broker.port).hasSuffix("first"))
        // The key in memory still signs.
        #expect(try await TLSFiles.mintStatus(deployment, port: broker.port) == "200")
        #expect(await broker.stop() == 0)
        try await LogSchema.check(broker.process.lines)
    }

    @Test func `what needs a restart is refused, and so is a file with a fault`() async throws {
        let deployment = try await Deployment()
        let broker = try await ServingBroker(try deployment.configuration())
        _ = try deployment.configuration(more: "shutdown_grace_seconds: 5,")
        let changed = try await reload(broker)
        #expect(changed["cause"]?.string?.contains("restart") == true)
        _ = try deployment.configuration(more: "unknown_member: 5,")
        let faulty = try await reload(broker, number: 2)
        #expect(faulty["cause"]?.string?.contains("unknown_member") == true)
        _ = try deployment.configuration()
        #expect(try await reload(broker, number: 3)["event"]?.string == "broker.reloaded")
        #expect(await broker.stop() == 0)
    }

    @Test func `a database that cannot be reached changes nothing`() async throws {
        let cluster = try await PostgresCluster()
        let deployment = try await Deployment(in: cluster)
        let broker = try await ServingBroker(try deployment.configuration())
        try await cluster.stop()
        #expect(try await reload(broker)["event"]?.string == "broker.reload_refused")
        try await cluster.start()
        let minted = try await broker.mint(.token(deployment.token)) { $0.status == 200 }
        #expect(minted.status == 200)
        #expect(await broker.stop() == 0)
    }

    @Test func `twenty signals at once, and mints meanwhile, lose nothing`() async throws {
        let deployment = try await Deployment()
        let broker = try await ServingBroker(try deployment.configuration())
        let statuses = try await atOnce(60) { number in
            if number % 3 == 0 { broker.process.signal(SIGHUP) }
            return try await broker.mint(.token(deployment.token)) { $0.status != 503 }.status
        }
        #expect(statuses.allSatisfy { $0 == 200 })
        #expect(try await reload(broker)["event"]?.string == "broker.reloaded")
        #expect(await broker.stop() == 0)
    }
}
