extension Service {
    /// What stops a start: a schema that does not fit, and a client that could not mint.
    static func checkAtStart(
        _ migrator: Migrator, _ control: ControlConnection, _ directories: DirectoryKeeper
    ) async throws(CommandError) {
        do {
            guard try await migrator.schemaIsCurrent(control) else {
                throw CommandError.refused(
                    "the database's schema is not current; run 'broker migrate'")
            }
        } catch let error as CommandError {
            throw error
        } catch MigrationError.database(.malformedConnectionString) {
            throw .refused("\(PostgresError.malformedConnectionString)")
        } catch MigrationError.databaseIsNewer {
            // Columns come first, code second: an old replica may start again in the middle of a roll-out.
        } catch MigrationError.database {
            return  // Not reachable yet: serve, say so in readiness, and try again every second.
        } catch {
            throw .refused("\(error)")
        }
        await directories.reload(newerThan: .min)
        if let faults = directories.current?.unusableClientsText { throw .refused(faults) }
    }
}
