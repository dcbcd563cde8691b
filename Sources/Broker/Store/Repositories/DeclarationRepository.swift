import AssertionMint
import JOSE

/// Writes declarations: all of a plan in one transaction, with one new revision.
struct DeclarationRepository: Sendable {
    let connection: ControlConnection

    /// Makes the plan and, unless it is a dry run or has conflicts, carries it out.
    func apply(
        _ declaration: Declaration, prune: Bool, keysNow: Bool = false, dryRun: Bool
    ) async throws(PostgresError) -> DeclarationPlan {
        try await connection.transaction { session throws(PostgresError) in
            // Two who apply at once take turns, so each plans over what the other left.
            try session.query("SELECT revision FROM broker.declaration FOR UPDATE")
            try session.query("SELECT broker.take_over_keys()")
            let plan = DeclarationPlan(
                declaration, over: try DeclarationRows(reading: session), prune: prune,
                keysNow: keysNow)
            guard !dryRun, plan.conflicts.isEmpty, !plan.isEmpty else { return plan }
            try carryOut(plan, session)
            try session.query("SELECT broker.bump_revision()")
            return plan
        }
    }

    private func carryOut(_ plan: DeclarationPlan, _ session: ControlSession) throws(PostgresError)
    {
        for tenant in plan.tenants {
            try session.query(
                """
                INSERT INTO broker.tenant (tenant_id, settings) VALUES ($1, $2::jsonb)
                ON CONFLICT (tenant_id) DO UPDATE SET settings = EXCLUDED.settings, changed_at = now()
                """, .text(tenant.id.rawValue),
                .text(Self.json { tenant.settings.writeMembers(to: &$0) }))
        }
        for client in plan.clients {
            if client.isChanged { try write(client, session) }
            if let keys = client.keys { try Self.write(keys, of: client.id, session) }
        }
        for id in plan.removedClients {
            try session.query("DELETE FROM broker.client WHERE client_id = $1", .text(id.rawValue))
        }
        for id in plan.removedTenants {
            try session.query(
                "DELETE FROM broker.api_token WHERE tenant_id = $1", .text(id.rawValue))
            try session.query("DELETE FROM broker.tenant WHERE tenant_id = $1", .text(id.rawValue))
        }
    }

    private func write(_ client: DeclarationPlan.Client, _ session: ControlSession)
        throws(PostgresError)
    {
        try session.query(
            """
            INSERT INTO broker.client (client_id, tenant_id, settings, changed_at)
            VALUES ($1, $2, $3::jsonb, clock_timestamp())
            ON CONFLICT (client_id) DO UPDATE SET tenant_id = EXCLUDED.tenant_id,
                settings = EXCLUDED.settings, changed_at = EXCLUDED.changed_at
            """, .text(client.id.rawValue), .text(client.tenant.rawValue),
            .text(Self.json { client.settings.writeMembers(to: &$0) }))
    }

    /// Makes these the keys of a client, and no others. Their age counts from now and not, as `now()` would have it, from when the
    /// transaction began to wait for its turn.
    static func write(
        _ keys: [Declaration.Key], of client: ClientId, _ session: ControlSession
    ) throws(PostgresError) {
        try session.query(
            "DELETE FROM broker.signing_key WHERE client_id = $1 AND kid <> ALL ($2::text[])",
            .text(client.rawValue), .texts(keys.map(\.kid)))
        // The active one last: the index allows one at a time.
        for key in keys.sorted(by: { $0.state != .active && $1.state == .active }) {
            try session.query(
                """
                INSERT INTO broker.signing_key AS k (client_id, kid, alg, uri, public_jwk, state, changed_at)
                VALUES ($1, $2, $3, $4, $5::jsonb, $6, clock_timestamp())
                ON CONFLICT (client_id, kid) DO UPDATE
                    SET uri = EXCLUDED.uri, state = EXCLUDED.state,
                        signs_at = CASE WHEN EXCLUDED.state = 'pending' THEN k.signs_at END,
                        changed_at = CASE WHEN k.state = EXCLUDED.state THEN k.changed_at ELSE EXCLUDED.changed_at END
                """, .text(client.rawValue), .text(key.kid),
                .text(key.publicJWK.algorithm.rawValue),
                .text(key.uri), .text(key.publicJWK.jsonText(asSigningKey: true)),
                .text(key.state.rawValue))
        }
    }

    private static func json(_ members: (inout JSONWriter) -> Void) -> String {
        var json = JSONWriter()
        json.object(members)
        return json.text
    }
}
