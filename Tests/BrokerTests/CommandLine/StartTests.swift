import Glibc
import JOSE
import TestKit
import Testing

@testable import Broker

/// When `broker serve` starts, and when it says why it does not.
@Suite struct StartTests {
    @Test func `a taken port is named`() async throws {
        let deployment = try await Deployment()
        let broker = try await ServingBroker(try deployment.configuration())
        let second = try await BrokerProgram.run(
            "serve", "--config", try deployment.configuration("second", port: broker.port))
        #expect(second.status == 69)
        #expect(
            second.errorText.contains(
                "cannot listen on 127.0.0.1 port \(broker.port): Address already in use"))
        #expect(await broker.stop() == 0)
    }

    @Test(arguments: ["gone", "readable", "other", "cut"])
    func `a key that cannot be used stops the start, with client and file named`(fault: String)
        async throws
    {
        let deployment = try await Deployment()
        let pem = try deployment.directory.read("app.pem")
        let path = deployment.directory.file("app.pem")
        switch fault {
        case "gone": unlink(path)
        case "readable": chmod(path, 0o644)
        case "other":
            try deployment.directory.write(PrivateKey.generate(.ES256).pkcs8PEM(), to: "app.pem")
        default: try deployment.directory.write(Array(pem.prefix(100)), to: "app.pem")
        }
        let result = try await BrokerProgram.run(
            "serve", "--config", try deployment.configuration())
        #expect(result.status == 65)
        #expect(result.errorText.contains("client app: file:\(path): "))
        for line in String(decoding: pem, as: UTF8.self).split(separator: "\n").dropFirst()
            .dropLast()
        {
            #expect(!(result.errorText + result.outputText).contains(line))
        }
    }

    @Test func `a schema that is behind stops the start, one that is ahead does not`() async throws
    {
        let deployment = try await Deployment()
        try await deployment.query(
            "INSERT INTO broker.schema_migration (version, name, digest) SELECT max(version) + 1, '9999_x.sql', repeat('0', 64) FROM broker.schema_migration"
        )
        let broker = try await ServingBroker(try deployment.configuration())
        #expect(try await broker.send(.token(deployment.token)).status == 200)
        #expect(await broker.stop() == 0)
        try await deployment.query(
            "DELETE FROM broker.schema_migration WHERE version > 1")
        let result = try await BrokerProgram.run(
            "serve", "--config", try deployment.configuration())
        #expect(result.status == 65)
        #expect(result.errorText.contains("run 'broker migrate'"))
    }

    @Test func `started before its database it serves as soon as that is there`() async throws {
        let cluster = try await PostgresCluster()
        let deployment = try await Deployment(in: cluster)
        try await cluster.stop()
        let broker = try await ServingBroker(try deployment.configuration())
        let unready = try await broker.get("/readyz")
        #expect(unready.status == 503)
        #expect(try unready.json()["checks"]?["database"]?.string == "unreachable")
        let response = try await broker.send(.token(deployment.token))
        #expect(response.status == 503)
        #expect(response.first("retry-after") == "1")
        #expect(try await broker.get("/healthz").status == 200)
        try await cluster.start()
        #expect(try await broker.get("/readyz") { $0.status == 200 }.status == 200)
        #expect(try await broker.mint(.token(deployment.token)) { $0.status == 200 }.status == 200)
        #expect(await broker.stop() == 0)
        try await LogSchema.check(broker.process.lines)
    }
}
