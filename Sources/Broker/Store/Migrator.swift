import Glibc

/// Brings a database to the newest schema, one file of `migrations/` at a time.
struct Migrator: Sendable {
    private let migrations: [Migration]

    /// - Parameter directory: Path of the folder with files named `NNNN_name.sql`.
    init(directory: String) throws(MigrationError) {
        migrations = try Migration.all(in: directory)
    }

    /// The version this broker needs; 0 with no file at all.
    var newestVersion: Int { migrations.last?.version ?? 0 }

    /// Applies what is missing, each file in a transaction of its own, and gives the files' names.
    ///
    /// Several may run at once: they take turns, and each applies only what is then still missing. Nothing is
    /// applied when an applied file has changed or the database is newer than the files.
    @discardableResult
    func migrate(_ connection: ControlConnection) async throws(MigrationError) -> [String] {
        var applied: [String] = []
        try await prepare(connection)
        for migration in migrations where try await apply(migration, connection) {
            applied.append(migration.fileName)
        }
        return applied
    }

    /// Whether the database has exactly these files applied.
    func schemaIsCurrent(_ connection: ControlConnection) async throws(MigrationError) -> Bool {
        let recorded: [RecordedMigration]
        do throws(PostgresError) {
            recorded = try await connection.transaction { session throws(PostgresError) in
                try Self.recorded(session)
            }
        } catch {
            // 3F000 and 42P01: no schema or no table yet, so nothing was ever applied.
            if error.sqlState == "42P01" || error.sqlState == "3F000" { return migrations.isEmpty }
            throw .database(error)
        }
        return try missing(recorded).isEmpty
    }

    private func prepare(_ connection: ControlConnection) async throws(MigrationError) {
        do throws(PostgresError) {
            try await connection.transaction { session throws(PostgresError) in
                try Self.takeTurn(session)
                try session.script(Self.bookkeeping)
            }
        } catch {
            throw .database(error)
        }
    }

    /// True when it was applied now, false when it had been before.
    private func apply(
        _ migration: Migration, _ connection: ControlConnection
    ) async throws(MigrationError) -> Bool {
        let outcome: Result<Bool, MigrationError>
        do throws(PostgresError) {
            outcome = try await connection.transaction { session throws(PostgresError) in
                try Self.takeTurn(session)
                do throws(MigrationError) {
                    let missing = try missing(Self.recorded(session))
                    guard missing.contains(where: { $0.version == migration.version }) else {
                        return .success(false)
                    }
                } catch {
                    return .failure(error)
                }
                try session.script(migration.sql)
                try session.query(
                    """
                    INSERT INTO broker.schema_migration (version, name, digest)
                    VALUES ($1::integer, $2, encode(sha256($3::bytea), 'hex'))
                    """,
                    .integer(Int64(migration.version)), .text(migration.fileName),
                    .bytes(Array(migration.sql.utf8)))
                return .success(true)
            }
        } catch {
            throw .failed(file: migration.fileName, error)
        }
        return try outcome.get()
    }

    /// What is still to be applied; throws when files and database contradict each other.
    private func missing(_ recorded: [RecordedMigration]) throws(MigrationError) -> [Migration] {
        for (index, row) in recorded.enumerated() {
            guard row.version <= newestVersion else {
                throw .databaseIsNewer(database: row.version, files: newestVersion)
            }
            let migration = migrations[index]
            guard row.version == migration.version else {
                throw .gapInDatabase(missing: migration.version)
            }
            guard row.text == migration.sql.digestKey(row) else {
                throw .changedAfterwards(file: migration.fileName)
            }
        }
        return Array(migrations.dropFirst(recorded.count))
    }
}
