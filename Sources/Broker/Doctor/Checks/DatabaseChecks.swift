/// Judges the database. Pure: facts in, findings out.
enum DatabaseChecks {
    static func findings(_ facts: DatabaseFacts) -> [Finding] {
        let server: DatabaseFacts.Server
        switch facts.server {
        case .failure(let error): return [finding(error)]
        case .success(let value): server = value
        }
        var findings: [Finding] = []
        if server.isWritable {
            findings.append(
                Finding(
                    .databaseReachable, .database,
                    "it takes writes; logged in as \(quoted(server.login))"))
        } else {
            findings.append(
                Finding(.databaseReadOnly, .database, "it is a standby, or set to read only"))
        }
        if !server.switchedOff.isEmpty {
            findings.append(
                Finding(
                    .databaseNotDurable, .database,
                    "off: \(server.switchedOff.joined(separator: ", "))"))
        }
        findings.append(clock(server.clock))
        if let schema = facts.schema.flatMap(finding) { findings.append(schema) }
        switch facts.roles {
        case .success(let roles): findings += RoleChecks.findings(roles)
        case .failure(let error): findings.append(finding(error))
        case nil: break
        }
        return findings
    }

    /// What a database error means, wherever it came from.
    static func finding(_ error: PostgresError) -> Finding {
        switch error {
        case .malformedConnectionString:
            Finding(.databaseMalformedURL, .database, "\(error)")
        case .cannotConnect, .timedOut, .connectionLost:
            Finding(.databaseUnreachable, .database, oneLine("\(error)"))
        case .server(sqlState: "42501", message: _):
            Finding(.databaseNoPrivilege, .database, oneLine("\(error)"))
        case .server(sqlState: "3F000", message: _), .server(sqlState: "42P01", message: _),
            .server(sqlState: "42703", message: _):
            Finding(.schemaOutdated, .database, oneLine("\(error)"))
        case .server: Finding(.databaseRefused, .database, oneLine("\(error)"))
        case .unexpectedAnswer:
            Finding(.declarationUnreadable, .database, oneLine("\(error)"))
        }
    }

    /// By the bounds that `serve` itself goes by.
    private static func clock(_ reading: ClockComparison) -> Finding {
        switch abs(reading.ahead) {
        case (ClockWatch.refused + 1)...: Finding(.clockDatabaseOff, .database, reading.text)
        case ClockWatch.noticed...: Finding(.clockDatabaseDrifts, .database, reading.text)
        default: Finding(.clockAgrees, .database, reading.text)
        }
    }

    private static func finding(_ schema: DatabaseFacts.Schema) -> Finding? {
        switch schema {
        case .current(let version):
            Finding(.schemaCurrent, .database, "version \(version)")
        case .missing: Finding(.schemaMissing, .database, "there is no schema of the broker's")
        case .outdated(let program):
            Finding(
                .schemaOutdated, .database,
                "migrations up to \(program) belong to this program, and not all are applied")
        case .newer(let database, let program):
            Finding(
                .schemaNewer, .database,
                "it is at version \(database); this program knows \(program)")
        case .contradicts(let why): Finding(.schemaContradicts, .database, oneLine(why))
        case .notComparable: nil
        case .failed(let error): finding(error)
        }
    }

    /// A driver's message has line breaks now and then.
    private static func oneLine(_ text: String) -> String {
        String(
            text.unicodeScalars.map { scalar -> Character in
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator, .format: " "
                default: Character(scalar)
                }
            }.prefix(500))
    }
}
