/// Gathers what there is to know of the database. It changes nothing.
struct DatabaseExamination: Sendable {
    let connection: ControlConnection
    /// Why there is none, in words, when the migrations were not found.
    let migrator: Result<Migrator, CommandError>
    /// Whether the connection is the one that `serve` would make.
    let isServiceLogin: Bool
    let clock: WallClock

    func examine() async -> DatabaseFacts {
        let server: DatabaseFacts.Server
        do { server = try await self.server() } catch {
            return DatabaseFacts(server: .failure(error))
        }
        let schema = await schema()
        var roles: Result<RoleFacts, PostgresError>?
        switch schema {
        // Without tables there is nothing to be allowed.
        case .missing, .failed: roles = nil
        default:
            do throws(PostgresError) { roles = .success(try await self.roles()) } catch {
                roles = .failure(error)
            }
        }
        return DatabaseFacts(server: .success(server), schema: schema, roles: roles)
    }

    private func server() async throws(PostgresError) -> DatabaseFacts.Server {
        let rows = try await connection.query(
            """
            SELECT current_user AS login,
                NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off' AS writable,
                array_to_string(ARRAY(
                    SELECT name FROM unnest(ARRAY['fsync', 'full_page_writes', 'synchronous_commit']) AS name
                    WHERE current_setting(name) = 'off'), ' ') AS off
            """)
        guard let row = rows.first else { throw .unexpectedAnswer("no row") }
        return DatabaseFacts.Server(
            login: try row.text("login"), isWritable: try row.boolean("writable"),
            switchedOff: try row.list("off"), clock: try await self.clockReading())
    }

    /// On a connection that stands already, so that little time lies between question and answer.
    private func clockReading() async throws(PostgresError) -> ClockComparison {
        let asked = clock.microseconds()
        let rows = try await connection.query(
            "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now")
        let answered = clock.microseconds()
        guard let now = try rows.first?.integer("now") else { throw .unexpectedAnswer("no row") }
        return ClockComparison(asked: asked, answered: answered, earliest: now, latest: now)
    }

    private func schema() async -> DatabaseFacts.Schema {
        let migrator: Migrator
        switch self.migrator {
        case .failure(let error): return .notComparable(error.message)
        case .success(let found): migrator = found
        }
        do {
            if try await migrator.schemaIsCurrent(connection) {
                return .current(migrator.newestVersion)
            }
        } catch {
            switch error {
            case .databaseIsNewer(let database, let program):
                return .newer(database: database, program: program)
            case .database(let error): return .failed(error)
            default: return .contradicts("\(error)")
            }
        }
        do throws(PostgresError) {
            let rows = try await connection.query(
                "SELECT to_regclass('broker.declaration') IS NOT NULL AS present")
            guard try rows.first?.boolean("present") == true else { return .missing }
            return .outdated(program: migrator.newestVersion)
        } catch {
            return .failed(error)
        }
    }

    private func roles() async throws(PostgresError) -> RoleFacts {
        let present = try await connection.query(
            "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'broker_service') AS present")
        let rows = try await connection.query(
            RoleQuestion.sql, .boolean(isServiceLogin))
        return RoleFacts(
            hasServiceRole: try present.first?.boolean("present") ?? false,
            roles: try rows.map { (row) throws(PostgresError) in
                RoleFacts.Role(
                    name: try row.text("name"), canLogin: try row.boolean("login"),
                    isConfigured: try row.boolean("configured"),
                    isService: try row.boolean("service"),
                    isSuperuser: try row.boolean("superuser"),
                    superusers: try row.lines("superusers"),
                    serverRoles: try row.list("server_roles"), owns: try row.boolean("owns"),
                    creates: try row.boolean("creates"),
                    attributes: try row.list("attributes"),
                    writes: try row.list("writes").map { $0.replacing("/", with: " on ") },
                    calls: try row.list("calls"))
            })
    }
}

extension SQLRow {
    /// Plain words between blanks, or a `text[]` of such in Postgres's notation.
    fileprivate func list(_ column: String) throws(PostgresError) -> [String] {
        try text(column).split { " {},\"".contains($0) }.map(String.init)
    }

    /// One item a line: names may have blanks.
    fileprivate func lines(_ column: String) throws(PostgresError) -> [String] {
        try text(column).split(separator: "\n").map(String.init)
    }
}
