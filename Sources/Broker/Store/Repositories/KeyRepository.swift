import AssertionMint

/// The keys of clients in the database, changed one step at a time.
struct KeyRepository: Sendable {
    let connection: ControlConnection

    /// The keys of one client; `nil` when there is no such client.
    func life(of client: ClientId) async throws(PostgresError) -> KeyLife? {
        let rows = try await rows()
        return Self.life(of: client, in: rows)
    }

    /// The keys of all clients, by `client_id`.
    func all() async throws(PostgresError) -> [KeyLife] {
        let rows = try await rows()
        return rows.clients.map(\.id).sorted().compactMap { Self.life(of: $0, in: rows) }
    }

    /// Makes a change and gives what it came to; `nil` when there is no such client.
    func change(
        _ client: ClientId, _ change: KeyLife.Change, now: Bool = false
    ) async throws(PostgresError) -> KeyLife.Outcome? {
        try await changing(client) { life, session throws(PostgresError) in
            let outcome = life.outcome(of: change, now: now)
            guard case .keys(let keys) = outcome else { return outcome }
            try DeclarationRepository.write(keys, of: client, session)
            try session.query("SELECT broker.bump_revision()")
            return outcome
        }
    }

    /// Lets a pending key take over later; `nil` when there is no such client.
    ///
    /// - Parameter moment: seconds since 1970 UTC, on the database's clock; `nil` takes it back.
    func schedule(
        _ client: ClientId, kid: String, at moment: Int64?
    ) async throws(PostgresError) -> KeyLife.Outcome? {
        try await changing(client) { life, session throws(PostgresError) in
            let rows = try session.query(
                "SELECT ceil(extract(epoch FROM clock_timestamp()))::bigint AS now")
            guard let now = try rows.first?.integer("now") else {
                throw .unexpectedAnswer("no time")
            }
            let outcome = life.outcome(of: .schedule(kid: kid, in: moment.map { $0 - now }))
            guard outcome == .scheduled else { return outcome }
            try session.query(
                """
                UPDATE broker.signing_key SET signs_at = to_timestamp($3::bigint)
                WHERE client_id = $1 AND kid = $2
                """, .text(client.rawValue), .text(kid), moment.map(SQLValue.integer) ?? .null)
            return outcome
        }
    }

    /// In one transaction: of two who change keys, the second decides on what the first left.
    private func changing(
        _ client: ClientId,
        _ body:
            @escaping @Sendable (KeyLife, ControlSession) throws(PostgresError) -> KeyLife.Outcome
    ) async throws(PostgresError) -> KeyLife.Outcome? {
        try await connection.transaction { session throws(PostgresError) in
            try session.query("SELECT revision FROM broker.declaration FOR UPDATE")
            try session.query("SELECT broker.take_over_keys()")
            let rows = try DeclarationRows(reading: session)
            guard let life = Self.life(of: client, in: rows) else { return nil }
            return try body(life, session)
        }
    }

    private func rows() async throws(PostgresError) -> DeclarationRows {
        _ = try await connection.query("SELECT broker.take_over_keys()")
        return try await connection.transaction { session throws(PostgresError) in
            try DeclarationRows(session)
        }
    }

    private static func life(of client: ClientId, in rows: DeclarationRows) -> KeyLife? {
        guard let row = rows.clients.first(where: { $0.id == client }) else { return nil }
        let ages = rows.keyAges[client] ?? [:]
        return KeyLife(
            client: client, settings: row.settings,
            stored: (rows.keys[client] ?? []).map { (key: $0, age: ages[$0.kid] ?? 0) },
            lifetime: row.longestLifetime, takeover: rows.takeovers[client] ?? [:])
    }
}
