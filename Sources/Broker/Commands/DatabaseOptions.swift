/// Where a command finds the database: an option, or the environment.
enum DatabaseOptions {
    static let options: Set<String> = ["--database-url", "--database-url-file"]

    static let help = """
          --database-url URL        libpq connection URI or keyword list
          --database-url-file FILE  the same, read from FILE (a password stays out of the
                                    process list); without either, DATABASE_URL is used
        """

    /// The libpq connection string.
    static func connectionString(_ arguments: Arguments) throws(CommandError) -> String {
        if let url = arguments.value("--database-url") { return url }
        if let path = arguments.value("--database-url-file") { return try readFile(path) }
        guard let url = Environment.variable("DATABASE_URL"), !url.isEmpty else {
            throw .usage(
                "no database: give --database-url, --database-url-file or set DATABASE_URL")
        }
        return url
    }

    /// The first line of a file that holds a connection string.
    static func readFile(_ path: String) throws(CommandError) -> String {
        let bytes = try TextFile.read(path)
        let line = bytes.prefix { $0 != 0x0a && $0 != 0x0d }
        guard !line.isEmpty, let text = String(validating: line, as: UTF8.self) else {
            throw .refused("\(path): no connection string in its first line")
        }
        return text
    }

    static func connection(_ arguments: Arguments) throws(CommandError) -> ControlConnection {
        ControlConnection(conninfo: try connectionString(arguments))
    }
}

extension CommandError {
    /// What a database fault means to the person who typed the command.
    init(_ error: PostgresError) {
        switch error.sqlState {
        case "42P01", "3F000":
            self = .unavailable("the database has no broker schema yet; run 'broker migrate' first")
        case "42883", "42703":
            self = .unavailable(
                "the database has an older broker schema; run 'broker migrate' first")
        default:
            self = .unavailable("database: \(error)")
        }
    }
}
