import AssertionMint
import JOSE

/// Gathers what the database says of clients, and tries their keys as `serve` would.
struct DirectoryExamination: Sendable {
    struct Facts: Sendable {
        let clients: [ClientFacts]
        /// Of every client, looked at or not.
        let declaredKeys: [ClientId: [Declaration.Key]]
        let shared: SharedFacts
    }

    let connection: ControlConnection
    let keys: KeyExamination
    let server: ServerFacts?

    /// - Parameter wanted: the only client to look at; `nil` for all.
    /// - Returns: `nil` when there is no such client.
    func examine(_ wanted: ClientId?) async throws(PostgresError) -> Facts? {
        let endless = try await endlessTokens()
        let (rows, now) = try await connection.transaction { session throws(PostgresError) in
            let rows = try DeclarationRows(session)
            let now = try session.query(
                "SELECT floor(extract(epoch FROM clock_timestamp()))::bigint AS now")
            guard let row = now.first else { throw .unexpectedAnswer("no row") }
            return (rows, try row.integer("now"))
        }
        let clients = rows.clients.filter { wanted == nil || $0.id == wanted }.sorted {
            $0.id < $1.id
        }
        guard wanted == nil || !clients.isEmpty else { return nil }
        let (declared, ages) = (rows.keys, rows.keyAges)
        let facts = await fewAtOnce(clients) { client in
            ClientFacts(
                id: client.id, tenant: client.tenant, settings: client.settings,
                tenantLimit: client.tenantSettings.limit,
                keys: await keys.examine(
                    declared[client.id] ?? [], of: client, ages: ages[client.id] ?? [:]),
                secret: await keys.examineSecret(of: client))
        }
        return Facts(
            clients: facts, declaredKeys: declared,
            shared: SharedFacts(
                tokens: rows.tokens, endlessTokens: endless,
                nonceAges: rows.nonceSecrets.map(\.age),
                overrides: rows.overrides.filter { $0.left > 0 }.map(\.override), now: now,
                server: server))
    }

    /// Asked for on its own: the broker never makes one, and cannot read a declaration that has one.
    func endlessTokens() async throws(PostgresError) -> [String] {
        try await connection.query(
            """
            SELECT token_id FROM broker.api_token
            WHERE NOT isfinite(expires_at) AND revoked_at IS NULL ORDER BY token_id
            """
        ).map { (row) throws(PostgresError) in try row.text("token_id") }
    }
}
