import SocketServer
import Synchronization
import TestKit
import Testing

@testable import Broker

@Suite struct ReadinessProbeTests {
    /// What anybody may read of a broker with these clients.
    func answer(_ clients: [RegisteredClient]) async throws -> ReadinessReport {
        let directory = try Sample.directory(clients)
        let directories = DirectoryKeeper { directory }
        await directories.reload(newerThan: .min)
        return try await answer(directories)
    }

    func answer(_ directories: DirectoryKeeper) async throws -> ReadinessReport {
        let deployment = try await Deployment()
        let database = StoreReadiness(
            connection: ControlConnection(
                conninfo: deployment.url, connectLimitMilliseconds: 20_000,
                statementLimitMilliseconds: 20_000),
            schemaVersion: try Migrator(directory: PostgresCluster.migrations).newestVersion)
        return await ReadinessProbe(
            database: database, directories: directories, clock: ClockWatch()
        ).report()
    }

    func client(_ id: String, key fault: String? = nil) throws -> RegisteredClient {
        let settings = try Sample.settings()
        guard let fault else { return try Sample.client(id, settings: settings) }
        return RegisteredClient(
            id: try Sample.clientId(id), tenant: try Sample.tenantId(), settings: settings,
            tenantSettings: try Sample.tenantSettings(), signing: .unusable(fault), publicKeys: [])
    }

    @Test func `a client whose key cannot be used makes it unready, and strangers learn no name`()
        async throws
    {
        let report = try await answer([
            try client("canary-good"),
            try client("canary-one", key: "/canary-path/one.pem: permission denied"),
            try client("canary-two", key: "/canary-path/two.pem: gone"),
        ])
        #expect(!report.isReady)
        let response = report.response()
        #expect(response.status == 503)
        let body = String(decoding: response.body, as: UTF8.self)
        #expect(body.contains("\"keys\":\"a client has no usable key\""))
        #expect(!body.contains("canary"))
    }

    @Test func `with a key for every client it is ready`() async throws {
        #expect(try await answer([try client("app")]).isReady)
        #expect(try await answer([]).isReady)
    }

    @Test func `a declaration that cannot be loaded makes it unready until it can, or is gone`()
        async throws
    {
        struct Unreadable: Error {}
        let directory = try Sample.directory([])
        let isReadable = Mutex(true)
        let directories = DirectoryKeeper {
            guard isReadable.withLock({ $0 }) else { throw Unreadable() }
            return directory
        }
        await directories.reload(newerThan: .min)
        isReadable.withLock { $0 = false }
        await directories.reload(newerThan: directory.revision)
        let report = try await answer(directories)
        #expect(!report.isReady)
        #expect(report.parts.first { $0.name == "declaration" }?.fault == "newest_not_loaded")
        directories.confirm(directory.revision, at: .now())
        #expect(try await answer(directories).isReady)
    }
}
