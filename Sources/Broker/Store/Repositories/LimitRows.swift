import AssertionMint
import JOSE

extension LimitOverride.Declared {
    /// Reads a row of `broker.limit_override`.
    init(_ row: SQLRow) throws(PostgresError) {
        id = try row.integer("override_id")
        let scope = try DeclarationRows.parse(row, "scope", LimitScope.init(rawValue:))
        switch scope {
        case .tenant: subject = .tenant(try DeclarationRows.parse(row, "tenant_id", TenantId.init))
        case .client: subject = .client(try DeclarationRows.parse(row, "client_id", ClientId.init))
        case .install:
            let client = try DeclarationRows.parse(row, "client_id", ClientId.init)
            subject =
                try row.optionalText("dpop_jkt") == nil
                ? .eachInstall(of: client)
                : .install(try DeclarationRows.parse(row, "dpop_jkt", DpopJkt.init), of: client)
        }
        limit = LimitSettings(
            burst: try row.integer("burst"), rate: try row.integer("rate"),
            per: try row.integer("per"))
        guard policy.isValid else { throw .unexpectedAnswer("malformed override \(id)") }
    }
}

/// Everything that `broker limits show` tells, as one consistent reading.
struct LimitRows: Sendable {
    /// An override with what people want to know of it.
    struct Override: Sendable, Equatable {
        let declared: LimitOverride.Declared
        let reason: String
        let madeBy: String
        /// Microseconds since 1970 UTC.
        let endsAt: Int64
    }

    /// Where one limit stands.
    struct State: Sendable, Equatable {
        /// When it is full again, microseconds since 1970 UTC.
        let tat: Int64
        /// The latest time it was decided at.
        let seenAt: Int64
    }

    /// By what the store keeps a limit.
    struct StateKey: Hashable, Sendable {
        /// A thumbprint and a client; or a scope and a client or tenant.
        let owner: [String]
        let state: String
    }

    /// The database's clock, microseconds since 1970 UTC.
    let now: Int64
    let revision: Int64
    let tenants: [TenantId: TenantSettings]
    let clients: [DeclarationRows.Client]
    /// Those that have not ended.
    let overrides: [Override]
    let states: [StateKey: State]
}

extension LimitRows {
    /// Reads everything but installs without an override, of which there may be millions.
    ///
    /// - Parameters:
    ///   - session: in a transaction that has run nothing yet.
    ///   - jkt: an install that is asked for.
    init(_ session: ControlSession, jkt: DpopJkt?) throws(PostgresError) {
        // One snapshot for all of the statements below.
        try session.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        let rows = try session.query(
            """
            SELECT revision, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
            FROM broker.declaration
            """)
        guard let row = rows.first else { throw .unexpectedAnswer("no declaration") }
        now = try row.integer("now")
        revision = try row.integer("revision")
        tenants = try DeclarationRows.tenants(session)
        clients = try DeclarationRows.clients(session, tenants)
        overrides = try Self.overrides(session)
        states = try Self.states(session, installs: overrides, jkt)
    }

    private static func overrides(_ session: ControlSession) throws(PostgresError) -> [Override] {
        try session.query(
            """
            SELECT override_id, scope, tenant_id, client_id, dpop_jkt, burst, rate, per, reason, made_by,
                (extract(epoch FROM ends_at) * 1000000)::bigint AS ends_at
            FROM broker.limit_override WHERE ends_at > clock_timestamp() ORDER BY override_id
            """
        ).map { (row) throws(PostgresError) in
            Override(
                declared: try LimitOverride.Declared(row), reason: try row.text("reason"),
                madeBy: try row.text("made_by"), endsAt: try row.integer("ends_at"))
        }
    }

    private static func states(
        _ session: ControlSession, installs overrides: [Override], _ jkt: DpopJkt?
    ) throws(PostgresError) -> [StateKey: State] {
        var wanted = jkt.map { [$0.rawValue] } ?? []
        for override in overrides {
            if case .install(let jkt, _) = override.declared.subject { wanted.append(jkt.rawValue) }
        }
        let installs = try session.query(
            """
            SELECT dpop_jkt, client_id, policy, tat, seen_at FROM broker.install_rate
            WHERE dpop_jkt = ANY ($1::text[])
            """, .texts(wanted))
        let shared = try session.query(
            "SELECT scope, subject, policy, tat, seen_at FROM broker.shared_rate")
        var states: [StateKey: State] = [:]
        for (rows, columns) in [
            (installs, ["dpop_jkt", "client_id"]), (shared, ["scope", "subject"]),
        ] {
            for row in rows {
                var owner: [String] = []
                for column in columns { owner.append(try row.text(column)) }
                states[StateKey(owner: owner, state: try row.text("policy"))] = State(
                    tat: try row.integer("tat"), seenAt: try row.integer("seen_at"))
            }
        }
        return states
    }
}
