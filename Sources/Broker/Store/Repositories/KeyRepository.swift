import AssertionMint

/// The keys of clients in the database, changed one step at a time.
struct KeyRepository: Sendable {
    let connection: ControlConnection

    /// The keys of one client; `nil` when there is no such client.
    func life(of client: ClientId) async throws(PostgresError) -> KeyLife? {
        try await connection.transaction { session throws(PostgresError) in
            Self.life(of: client, in: try DeclarationRows(session))
        }
    }

    /// The keys of all clients, by `client_id`.
    func all() async throws(PostgresError) -> [KeyLife] {
        try await connection.transaction { session throws(PostgresError) in
            let rows = try DeclarationRows(session)
            return rows.clients.map(\.id).sorted().compactMap { Self.life(of: $0, in: rows) }
        }
    }

    /// Makes a change and gives what it came to; `nil` when there is no such client. In one transaction: of two who change the
    /// same client, the second decides on what the first left.
    func change(
        _ client: ClientId, _ change: KeyLife.Change, now: Bool = false
    ) async throws(PostgresError) -> KeyLife.Outcome? {
        try await connection.transaction { session throws(PostgresError) in
            try session.query("SELECT revision FROM broker.declaration FOR UPDATE")
            let rows = try DeclarationRows(reading: session)
            guard let life = Self.life(of: client, in: rows) else { return nil }
            let outcome = life.outcome(of: change, now: now)
            guard case .keys(let keys) = outcome else { return outcome }
            try DeclarationRepository.write(keys, of: client, session)
            try session.query("SELECT broker.bump_revision()")
            return outcome
        }
    }

    private static func life(of client: ClientId, in rows: DeclarationRows) -> KeyLife? {
        guard let row = rows.clients.first(where: { $0.id == client }) else { return nil }
        let ages = rows.keyAges[client] ?? [:]
        return KeyLife(
            client: client, algorithm: row.settings.algorithm,
            stored: (rows.keys[client] ?? []).map { (key: $0, age: ages[$0.kid] ?? 0) },
            lifetime: row.settings.profile.lifetime)
    }
}
