import TestKit
import Testing

@testable import Broker

@Suite struct StoreReadinessTests {
    /// - Parameter version: what the program needs, counted from the newest migration.
    private func probe(_ url: String, version: Int = 0) throws -> StoreReadiness {
        StoreReadiness(
            connection: ControlConnection(
                conninfo: url, connectLimitMilliseconds: 20_000, statementLimitMilliseconds: 20_000),
            schemaVersion: try Migrator(directory: PostgresCluster.migrations).newestVersion
                + version)
    }

    /// A database migrated by `broker migrate`, which keeps the books the probe reads.
    private func migrated() async throws -> String {
        let url = try await PostgresCluster.shared().emptyDatabase()
        try await Migrator(directory: PostgresCluster.migrations)
            .migrate(ControlConnection(conninfo: url))
        return url
    }

    @Test func `a migrated database is ready, also for an older program`() async throws {
        let url = try await migrated()
        #expect(try await probe(url).check() == .ready)
        #expect(try await probe(url, version: -1).check() == .ready)
    }

    @Test func `an older schema is not ready, nor none at all`() async throws {
        let url = try await migrated()
        #expect(try await probe(url, version: 1).check() == .notReady(.schemaOutdated))
        let empty = try await PostgresCluster.shared().emptyDatabase()
        #expect(try await probe(empty).check() == .notReady(.schemaOutdated))
    }

    @Test func `a database that is read-only is not ready, and ready again afterwards`()
        async throws
    {
        let url = try await migrated()
        let name = try await PostgresCluster.query("SELECT current_database()", at: url)
        try await PostgresCluster.query(
            "ALTER DATABASE \(name) SET default_transaction_read_only = on", at: url)
        #expect(try await probe(url).check() == .notReady(.readOnly))
        try await PostgresCluster.query(
            "ALTER DATABASE \(name) RESET default_transaction_read_only",
            at: PostgresCluster.shared().url)
        #expect(try await probe(url).check() == .ready)
    }

    @Test func `nobody there is told in bounded time`() async throws {
        #expect(
            try await probe("postgresql:///x?host=/nonexistent").check() == .notReady(.unreachable))
    }

    @Test(arguments: ["assertion_jti", "proof_jti", "consumed_jti", "install_rate"])
    func `a dropped table is not ready`(table: String) async throws {
        let url = try await migrated()
        try await PostgresCluster.query("DROP TABLE broker.\(table)", at: url)
        #expect(try await probe(url).check() == .notReady(.schemaOutdated))
    }

    @Test func `a login without the service role is not ready`() async throws {
        let url = try await migrated()
        let role = "stranger_" + MintRecord.randomText(8).filter(\.isLetter).lowercased()
        try await PostgresCluster.query("CREATE ROLE \(role) LOGIN", at: url)
        let stranger = url.replacing("user=postgres", with: "user=\(role)")
        #expect(try await probe(stranger).check() == .notReady(.noPrivilege))
    }

    @Test(arguments: ["record_batch", "take_over_keys"])
    func `a function that the service may not call is not ready`(function: String) async throws {
        let url = try await migrated()
        let role = "service_" + MintRecord.randomText(8).filter(\.isLetter).lowercased()
        try await PostgresCluster.query("CREATE ROLE \(role) LOGIN IN ROLE broker_service", at: url)
        let service = url.replacing("user=postgres", with: "user=\(role)")
        #expect(try await probe(service).check() == .ready)
        try await PostgresCluster.query(
            "REVOKE EXECUTE ON FUNCTION broker.\(function) FROM broker_service", at: url)
        #expect(try await probe(service).check() == .notReady(.noPrivilege))
    }
}
