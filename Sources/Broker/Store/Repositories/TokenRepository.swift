import JOSE

/// API tokens in the database: digests only.
struct TokenRepository: Sendable {
    /// What `broker token list` shows; never a token.
    struct Row: Sendable {
        let id: String
        let tenant: String
        let scopes: String
        let label: String
        let expiresAt: String
        let state: String
    }

    let connection: ControlConnection

    /// Writes a new token's digest.
    ///
    /// - Returns: `false` when there is no such tenant.
    func create(
        id: String, tenant: TenantId, digest: [UInt8], scopes: [APIToken.Scope], label: String,
        lifetime: Int64
    ) async throws(PostgresError) -> Bool {
        try await connection.transaction { session throws(PostgresError) in
            let inserted = try session.query(
                """
                INSERT INTO broker.api_token (token_id, tenant_id, digest, scopes, label, expires_at)
                SELECT $1, tenant_id, $3::bytea, $4::text[], $5, now() + make_interval(secs => $6::double precision)
                FROM broker.tenant WHERE tenant_id = $2
                RETURNING token_id
                """, .text(id), .text(tenant.rawValue), .bytes(digest),
                .texts(scopes.map(\.rawValue)),
                .text(label), .integer(lifetime))
            guard !inserted.isEmpty else { return false }
            try session.query("SELECT broker.bump_revision()")
            return true
        }
    }

    /// Marks a token as revoked from the next batch of every replica on.
    ///
    /// - Returns: `false` when there is no such token or it was revoked before.
    func revoke(id: String) async throws(PostgresError) -> Bool {
        try await connection.transaction { session throws(PostgresError) in
            let changed = try session.query(
                "UPDATE broker.api_token SET revoked_at = now() WHERE token_id = $1 AND revoked_at IS NULL RETURNING 1",
                .text(id))
            guard !changed.isEmpty else { return false }
            try session.query("SELECT broker.bump_revision()")
            return true
        }
    }

    /// All tokens, or one tenant's.
    func list(tenant: TenantId?) async throws(PostgresError) -> [Row] {
        try await connection.query(
            """
            SELECT token_id, tenant_id, array_to_string(scopes, ',') AS scopes, label,
                to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS expires_at,
                CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired'
                    ELSE 'good' END AS state
            FROM broker.api_token WHERE $1::text IS NULL OR tenant_id = $1
            ORDER BY tenant_id, created_at
            """, tenant.map { .text($0.rawValue) } ?? .null
        ).map { (row) throws(PostgresError) in
            Row(
                id: try row.text("token_id"), tenant: try row.text("tenant_id"),
                scopes: try row.text("scopes"),
                label: try row.text("label"), expiresAt: try row.text("expires_at"),
                state: try row.text("state"))
        }
    }
}
