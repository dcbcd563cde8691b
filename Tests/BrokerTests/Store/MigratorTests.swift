import TestKit
import Testing

@testable import Broker

@Suite struct MigratorTests {
    private func connection() async throws -> ControlConnection {
        ControlConnection(conninfo: try await PostgresCluster.shared().emptyDatabase())
    }

    private func files(_ files: [String: String]) throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        for (name, sql) in files { try directory.write(Array(sql.utf8), to: name) }
        return directory
    }

    @Test func `applies every migration once, in order, and says so`() async throws {
        let connection = try await connection()
        let migrator = try Migrator(directory: PostgresCluster.migrations)
        #expect(try await !migrator.schemaIsCurrent(connection))
        let applied = try await migrator.migrate(connection)
        #expect(applied.count == migrator.newestVersion)
        #expect(applied == applied.sorted())
        #expect(try await migrator.schemaIsCurrent(connection))
        #expect(try await migrator.migrate(connection) == [])
    }

    @Test func `several at once apply each file once`() async throws {
        let url = try await PostgresCluster.shared().emptyDatabase()
        let migrator = try Migrator(directory: PostgresCluster.migrations)
        let applied = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<4 {
                group.addTask { try await migrator.migrate(ControlConnection(conninfo: url)) }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(applied.count == migrator.newestVersion)
    }

    @Test func `refuses a file that changed after it was applied`() async throws {
        let connection = try await connection()
        let before = try files(["0001_a.sql": "SELECT 1;"])
        try await Migrator(directory: before.path).migrate(connection)
        let after = try files(["0001_a.sql": "SELECT 2;", "0002_b.sql": "CREATE TABLE b ();"])
        let migrator = try Migrator(directory: after.path)
        await #expect(throws: MigrationError.changedAfterwards(file: "0001_a.sql")) {
            try await migrator.migrate(connection)
        }
        let table = try await connection.query("SELECT to_regclass('b') AS b")
        #expect(try table[0].optionalText("b") == nil)
    }

    @Test func `refuses a database that is newer`() async throws {
        let connection = try await connection()
        let newer = try files(["0001_a.sql": "SELECT 1;", "0002_b.sql": "SELECT 2;"])
        try await Migrator(directory: newer.path).migrate(connection)
        let older = try files(["0001_a.sql": "SELECT 1;"])
        let migrator = try Migrator(directory: older.path)
        await #expect(throws: MigrationError.databaseIsNewer(database: 2, files: 1)) {
            try await migrator.migrate(connection)
        }
    }

    @Test func `refuses a database where an earlier one is missing`() async throws {
        let connection = try await connection()
        let two = try files(["0001_a.sql": "SELECT 1;", "0002_b.sql": "SELECT 2;"])
        let migrator = try Migrator(directory: two.path)
        try await migrator.migrate(connection)
        _ = try await connection.query("DELETE FROM broker.schema_migration WHERE version = 1")
        await #expect(throws: MigrationError.gapInDatabase(missing: 1)) {
            try await migrator.migrate(connection)
        }
    }

    @Test func `a file that fails leaves nothing behind, and those before it stay`() async throws {
        let connection = try await connection()
        let files = try files([
            "0001_a.sql": "CREATE TABLE a ();",
            "0002_b.sql": "CREATE TABLE b (); CREATE TABLE b ();",
        ])
        let migrator = try Migrator(directory: files.path)
        await #expect {
            try await migrator.migrate(connection)
        } throws: { error in
            guard case .failed(file: "0002_b.sql", let cause) = error as? MigrationError else {
                return false
            }
            return cause.sqlState == "42P07"
        }
        let tables = try await connection.query(
            "SELECT to_regclass('a') AS a, to_regclass('b') AS b")
        #expect(try tables[0].optionalText("a") == "a")
        #expect(try tables[0].optionalText("b") == nil)
        #expect(try await !migrator.schemaIsCurrent(connection))
    }

    @Test(arguments: [
        (["0002_b.sql"], MigrationError.gapInFiles(missing: 1)),
        (["0001_a.sql", "0003_c.sql"], .gapInFiles(missing: 2)),
        (["0001_a.sql", "0001_b.sql"], .duplicateNumber(1)),
        (["1_a.sql"], .badName(file: "1_a.sql")),
        (["0000_a.sql"], .badName(file: "0000_a.sql")),
        (["0001a.sql"], .badName(file: "0001a.sql")),
    ])
    func `refuses a folder that is out of order`(names: [String], error: MigrationError) throws {
        let directory = try files(
            Dictionary(uniqueKeysWithValues: names.map { ($0, "SELECT 1;") }))
        #expect(throws: error) { try Migrator(directory: directory.path) }
    }

    @Test func `refuses an empty folder and one that is not there`() throws {
        let directory = try files(["README.md": "nothing"])
        #expect(throws: MigrationError.noFiles(directory: directory.path)) {
            try Migrator(directory: directory.path)
        }
        #expect(throws: MigrationError.self) { try Migrator(directory: directory.path + "/none") }
    }
}
