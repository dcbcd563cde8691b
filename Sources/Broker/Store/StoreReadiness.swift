/// Whether the database could commit a mint now: it tries what a mint needs, not `SELECT 1`.
struct StoreReadiness: Sendable {
    enum Answer: Sendable, Equatable {
        case ready
        /// Fixed words without secrets, for the probe's answer.
        case notReady(Fault)
    }

    enum Fault: String, Sendable, Equatable {
        case unreachable
        case readOnly = "read_only"
        case schemaOutdated = "schema_outdated"
        case noPrivilege = "no_privilege"
        case refused
    }

    private let connection: ControlConnection
    private let schemaVersion: Int

    /// - Parameters:
    ///   - connection: One of the probe's own, so that no other work can hold it up, with small limits: they
    ///     bound how long the probe takes.
    ///   - schemaVersion: `Migrator.newestVersion`.
    init(connection: ControlConnection, schemaVersion: Int) {
        self.connection = connection
        self.schemaVersion = schemaVersion
    }

    func check() async -> Answer {
        do throws(PostgresError) {
            let rows = try await connection.query(Self.question)
            guard let row = rows.first else { return .notReady(.refused) }
            if try !row.boolean("writable") { return .notReady(.readOnly) }
            // A newer schema is fine: columns come first, code second.
            if try row.integer("version") < Int64(schemaVersion) {
                return .notReady(.schemaOutdated)
            }
            if try !row.boolean("privileged") { return .notReady(.noPrivilege) }
            return .ready
        } catch {
            switch error.sqlState {
            case nil: return .notReady(.unreachable)
            case "42P01", "3F000": return .notReady(.schemaOutdated)
            case "42501": return .notReady(.noPrivilege)
            case "25006": return .notReady(.readOnly)
            default: return .notReady(.refused)
            }
        }
    }

    /// A missing table fails here as it would in a mint. (A list of privileges would mean any of them.)
    private static let question = """
        SELECT NOT pg_is_in_recovery()
                AND current_setting('transaction_read_only') = 'off' AS writable,
            COALESCE((SELECT bool_and(has_function_privilege(oid, 'EXECUTE')) FROM pg_proc
                    WHERE pronamespace = 'broker'::regnamespace
                        AND proname IN ('record_batch', 'take_over_keys')), false)
                AND has_table_privilege('broker.consumed_jti', 'INSERT')
                AND num_nulls('broker.assertion_jti'::regclass, 'broker.proof_jti'::regclass,
                    'broker.install_rate'::regclass, 'broker.shared_rate'::regclass) = 0
                AND EXISTS (SELECT FROM broker.declaration) AS privileged,
            (SELECT COALESCE(max(version), 0) FROM broker.schema_migration) AS version
        """
}
