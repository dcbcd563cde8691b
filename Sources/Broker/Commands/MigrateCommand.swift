/// `broker migrate`: brings the database's schema up to date.
enum MigrateCommand {
    static let help = """
        Usage: broker migrate [--migrations DIR] [--database-url URL]

        Applies the files of DIR that the database does not have yet, in order, each in a
        transaction of its own. Several may run at once. Refuses when an applied file has changed
        or the database is newer. DIR is ./migrations or \(Migrations.installed) unless given.

        \(DatabaseOptions.help)
        """

    static func run(_ words: [String]) async throws(CommandError) {
        let arguments = try Arguments(
            words, options: DatabaseOptions.options.union(["--migrations"]))
        let migrator = try Migrations.migrator(arguments.value("--migrations"))
        let connection = try DatabaseOptions.connection(arguments)
        let applied: [String]
        do {
            applied = try await migrator.migrate(connection)
        } catch .database(let error) {
            throw CommandError(error)
        } catch {
            throw .refused("\(error)")
        }
        applied.forEach { Output.line("applied \($0)") }
        Output.line("the schema is at version \(migrator.newestVersion)")
    }
}

/// Where the migration files lie.
enum Migrations {
    static let installed = "/usr/share/token-broker/migrations"

    /// The migrator over `directory`, or over the first place that is there.
    static func migrator(_ directory: String?) throws(CommandError) -> Migrator {
        let places = directory.map { [$0] } ?? ["migrations", installed]
        guard let place = places.first(where: TextFile.isDirectory) else {
            throw .refused(
                "no migrations in \(places.joined(separator: " or ")): name their directory")
        }
        do { return try Migrator(directory: place) } catch { throw .refused("\(place): \(error)") }
    }
}
