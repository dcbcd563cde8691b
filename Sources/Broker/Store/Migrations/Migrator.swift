/// Brings a database to the newest schema, one file of `migrations/` at a time.
struct Migrator: Sendable {
    private let migrations: [Migration]

    /// - Parameter directory: Path of the folder with files named `NNNN_name.sql`.
    init(directory: String) throws(MigrationError) {
        migrations = try Migration.all(in: directory)
    }

    /// The version this program needs.
    var newestVersion: Int { migrations.count }

    /// Applies what is missing, each file in a transaction of its own, and gives the files' names.
    ///
    /// Several may run at once: they take turns, and each applies only what is then still missing. Nothing is
    /// applied when an applied file has changed, one is missing, or the database is newer than the files.
    @discardableResult
    func migrate(_ connection: ControlConnection) async throws(MigrationError) -> [String] {
        do throws(PostgresError) {
            try await connection.transaction { session throws(PostgresError) in
                try Self.takeTurn(session)
                try session.script(Self.bookkeeping)
            }
        } catch {
            throw .database(error)
        }
        var applied: [String] = []
        for migration in migrations where try await apply(migration, connection) {
            applied.append(migration.fileName)
        }
        return applied
    }

    /// Whether the database has exactly these files applied.
    func schemaIsCurrent(_ connection: ControlConnection) async throws(MigrationError) -> Bool {
        let recorded: [Recorded]
        do throws(PostgresError) {
            recorded = try await connection.transaction { session throws(PostgresError) in
                try Self.recorded(session)
            }
        } catch {
            // No schema or no table yet: nothing was ever applied.
            if error.sqlState == "3F000" || error.sqlState == "42P01" { return false }
            throw .database(error)
        }
        return try missing(recorded).isEmpty
    }

    /// One row of `broker.schema_migration`.
    private struct Recorded: Sendable {
        let version: Int
        let digest: String
    }

    /// True when it was applied now, false when it had been before.
    private func apply(
        _ migration: Migration, _ connection: ControlConnection
    ) async throws(MigrationError) -> Bool {
        let outcome: Result<Bool, MigrationError>
        do throws(PostgresError) {
            outcome = try await connection.transaction { session throws(PostgresError) in
                try Self.takeTurn(session)
                let recorded = try Self.recorded(session)
                do throws(MigrationError) {
                    guard try missing(recorded).first == migration else { return .success(false) }
                } catch {
                    return .failure(error)
                }
                try session.script(migration.sql)
                try session.query(
                    "INSERT INTO broker.schema_migration (version, name, digest) "
                        + "VALUES ($1::integer, $2, $3)",
                    .integer(Int64(migration.version)), .text(migration.fileName),
                    .text(migration.digest))
                return .success(true)
            }
        } catch {
            throw .failed(file: migration.fileName, error)
        }
        return try outcome.get()
    }

    /// What is still to be applied; throws when files and database contradict each other.
    private func missing(_ recorded: [Recorded]) throws(MigrationError) -> ArraySlice<Migration> {
        if let last = recorded.last, last.version > newestVersion {
            throw .databaseIsNewer(database: last.version, files: newestVersion)
        }
        for (row, migration) in zip(recorded, migrations) {
            guard row.version == migration.version else {
                throw .gapInDatabase(missing: migration.version)
            }
            guard row.digest == migration.digest else {
                throw .changedAfterwards(file: migration.fileName)
            }
        }
        return migrations.dropFirst(recorded.count)
    }

    /// One migrator at a time. The lock goes with the transaction, so a pooler is no trouble.
    private static func takeTurn(_ session: ControlSession) throws(PostgresError) {
        try session.query(
            "SELECT pg_advisory_xact_lock(hashtextextended('broker.schema_migration', 0))")
    }

    private static func recorded(_ session: ControlSession) throws(PostgresError) -> [Recorded] {
        var recorded: [Recorded] = []
        for row in try session.query(
            "SELECT version, digest FROM broker.schema_migration ORDER BY version")
        {
            recorded.append(
                Recorded(
                    version: Int(try row.integer("version")), digest: try row.text("digest")))
        }
        return recorded
    }

    /// The first file makes the same, for those who run it with psql.
    private static let bookkeeping = """
        CREATE SCHEMA IF NOT EXISTS broker;
        CREATE TABLE IF NOT EXISTS broker.schema_migration (
            version integer PRIMARY KEY CHECK (version > 0),
            name text NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 200),
            digest text NOT NULL CHECK (digest ~ '^[0-9a-f]{64}$'),
            applied_at timestamptz NOT NULL DEFAULT now()
        );
        """
}
