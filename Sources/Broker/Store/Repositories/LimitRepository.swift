import AssertionMint
import JOSE

/// Looks at limits and changes them for a while. All that a member of `broker_operator` may do.
struct LimitRepository: Sendable {
    let connection: ControlConnection

    /// Everything there is to tell about limits, and about one install where one is named.
    func rows(jkt: DpopJkt?) async throws(PostgresError) -> LimitRows {
        try await connection.transaction { session throws(PostgresError) in
            try LimitRows(session, jkt: jkt)
        }
    }

    /// What became of an override that was asked for.
    enum Outcome: Sendable, Equatable {
        /// When it ends, microseconds since 1970 UTC.
        case made(endsAt: Int64)
        case unknownSubject
        /// There are as many as there may be.
        case tooMany
    }

    /// Makes an override that holds from the next batch of every replica on, in place of one that is there.
    ///
    /// - Parameter seconds: how long it holds, on the database's clock.
    func override(
        _ subject: LimitOverride.Subject, _ limit: LimitSettings, seconds: Int64, reason: String
    ) async throws(PostgresError) -> Outcome {
        do throws(PostgresError) {
            let rows = try await connection.query(
                """
                SELECT (extract(epoch FROM broker.override_limit(
                    $1, $2, $3, $4, $5::integer, $6::integer, $7::integer, $8::bigint, $9
                )) * 1000000)::bigint AS ends_at
                """,
                subject.values[0], subject.values[1], subject.values[2], subject.values[3],
                .integer(limit.burst), .integer(limit.rate), .integer(limit.per),
                .integer(seconds), .text(reason))
            guard let row = rows.first else { throw .unexpectedAnswer("no row") }
            guard try row.optionalText("ends_at") != nil else { return .unknownSubject }
            return .made(endsAt: try row.integer("ends_at"))
        } catch {
            if error.sqlState == "54000" { return .tooMany }
            throw error
        }
    }

    /// Ends an override from the next batch of every replica on.
    ///
    /// - Returns: `false` when there was none.
    func lift(_ subject: LimitOverride.Subject) async throws(PostgresError) -> Bool {
        try await call("lift_override", subject)
    }

    /// Makes a limit full again.
    ///
    /// - Returns: `false` when there is no such client or tenant.
    func clear(_ subject: LimitOverride.Subject) async throws(PostgresError) -> Bool {
        try await call("clear_limit", subject)
    }

    private func call(
        _ function: String, _ subject: LimitOverride.Subject
    ) async throws(PostgresError) -> Bool {
        let values = subject.values
        let rows = try await connection.query(
            "SELECT broker.\(function)($1, $2, $3, $4) AS done", values[0], values[1], values[2],
            values[3])
        guard let row = rows.first else { throw .unexpectedAnswer("no row") }
        return try row.boolean("done")
    }
}

extension LimitOverride.Subject {
    /// Scope, tenant, client and thumbprint, as the functions take them.
    fileprivate var values: [SQLValue] {
        switch self {
        case .install(let jkt, let client):
            [.text("install"), .null, .text(client.rawValue), .text(jkt.rawValue)]
        case .eachInstall(let client):
            [.text("install"), .null, .text(client.rawValue), .null]
        case .client(let client): [.text("client"), .null, .text(client.rawValue), .null]
        case .tenant(let tenant): [.text("tenant"), .text(tenant.rawValue), .null, .null]
        }
    }
}
