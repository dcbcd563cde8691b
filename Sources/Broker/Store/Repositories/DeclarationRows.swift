import AssertionMint
import JOSE

/// The tables of the declaration as one consistent reading, parsed into values that cannot be wrong.
struct DeclarationRows: Sendable {
    struct Client: Sendable {
        let id: ClientId
        let tenant: TenantId
        let settings: ClientSettings
        let tenantSettings: TenantSettings
        /// Seconds since it was declared or changed, on the database's clock.
        var age: Int64 = .max

        /// How long something that a key signed and that is still good may live, in seconds: soon after a change perhaps longer
        /// than is declared now.
        var longestLifetime: Int64 {
            let longest = max(
                AssertionProfile.lifetimes.upperBound, AttestationProfile.lifetimes.upperBound)
            return age < KeyOverlap.needed(longest) ? longest : settings.signedLifetime
        }
    }

    let revision: Int64
    let tenants: [TenantId: TenantSettings]
    let clients: [Client]
    let keys: [ClientId: [Declaration.Key]]
    let tokens: [APIToken]
    let blocks: [Block]
    /// Each with the seconds since it was made, on the database's clock.
    let nonceSecrets: [(value: [UInt8], age: Int64)]
    /// Seconds each key, by its kid, has been in its present state, on the database's clock.
    var keyAges: [ClientId: [String: Int64]] = [:]
    /// Seconds until a key takes over by itself, by its kid, on the database's clock.
    var takeovers: [ClientId: [String: Int64]] = [:]
    /// Each with the microseconds until it ends, on the database's clock.
    var overrides: [(override: LimitOverride.Declared, left: Int64)] = []
}

extension DeclarationRows {
    /// Reads everything; the session must be in a transaction that has run nothing yet.
    init(_ session: ControlSession) throws(PostgresError) {
        // One snapshot for all of the statements below.
        try session.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        self = try DeclarationRows(reading: session)
    }

    /// Reads everything in a transaction of the caller's, which must hold the declaration's row.
    init(reading session: ControlSession) throws(PostgresError) {
        guard let row = try session.query("SELECT revision FROM broker.declaration").first else {
            throw .unexpectedAnswer("no declaration")
        }
        revision = try row.integer("revision")
        tenants = try Self.tenants(session)
        clients = try Self.clients(session, tenants)
        keys = try Self.keys(session)
        (keyAges, takeovers) = try Self.keyTimes(session)
        tokens = try Self.tokens(session)
        blocks = try Self.blocks(session)
        overrides = try Self.overrides(session)
        nonceSecrets = try session.query(
            """
            SELECT value, floor(extract(epoch FROM clock_timestamp() - created_at))::bigint AS age
            FROM broker.server_secret WHERE name = 'dpop-nonce'
            """
        ).map { (row) throws(PostgresError) in
            (value: try row.bytes("value"), age: try row.integer("age"))
        }
    }

    static func tenants(_ session: ControlSession) throws(PostgresError) -> [TenantId:
        TenantSettings]
    {
        var tenants: [TenantId: TenantSettings] = [:]
        for row in try session.query("SELECT tenant_id, settings FROM broker.tenant") {
            let id = try parse(row, "tenant_id", TenantId.init)
            do {
                tenants[id] = try StoredDocument.tenantSettings(try row.text("settings"))
            } catch {
                throw .unexpectedAnswer("tenant \(id): \(error)")
            }
        }
        return tenants
    }

    static func clients(
        _ session: ControlSession, _ tenants: [TenantId: TenantSettings]
    ) throws(PostgresError) -> [Client] {
        try session.query(
            """
            SELECT client_id, tenant_id, settings,
                floor(extract(epoch FROM clock_timestamp() - changed_at))::bigint AS age
            FROM broker.client
            """
        ).map { (row) throws(PostgresError) in
            let id = try parse(row, "client_id", ClientId.init)
            let tenant = try parse(row, "tenant_id", TenantId.init)
            guard let tenantSettings = tenants[tenant] else {
                throw .unexpectedAnswer("client \(id) has no tenant")
            }
            do {
                return Client(
                    id: id, tenant: tenant,
                    settings: try StoredDocument.clientSettings(try row.text("settings")),
                    tenantSettings: tenantSettings, age: try row.integer("age"))
            } catch {
                throw .unexpectedAnswer("client \(id): \(error)")
            }
        }
    }

    private static func keys(_ session: ControlSession) throws(PostgresError) -> [ClientId:
        [Declaration.Key]]
    {
        let rows = try session.query(
            "SELECT client_id, kid, uri, public_jwk, state FROM broker.signing_key ORDER BY client_id, kid"
        )
        var keys: [ClientId: [Declaration.Key]] = [:]
        for row in rows {
            let client = try parse(row, "client_id", ClientId.init)
            let kid = try row.text("kid")
            let state = try parse(row, "state", KeyState.init(rawValue:))
            let uri = try row.text("uri")
            let jwk: PublicJWK
            do {
                jwk = try StoredDocument.publicJWK(try row.text("public_jwk"), kid: kid)
            } catch {
                throw .unexpectedAnswer("key of client \(client): \(error)")
            }
            keys[client, default: []].append(
                Declaration.Key(kid: kid, uri: uri, state: state, publicJWK: jwk))
        }
        return keys
    }

    private typealias Seconds = [ClientId: [String: Int64]]

    private static func keyTimes(
        _ session: ControlSession
    ) throws(PostgresError) -> (ages: Seconds, takeovers: Seconds) {
        let rows = try session.query(
            """
            SELECT client_id, kid, floor(extract(epoch FROM clock_timestamp() - changed_at))::bigint AS age,
                CASE WHEN state = 'pending' THEN ceil(extract(epoch FROM signs_at - clock_timestamp()))::bigint END
                    AS takeover
            FROM broker.signing_key
            """)
        var times: (ages: Seconds, takeovers: Seconds) = ([:], [:])
        for row in rows {
            let client = try parse(row, "client_id", ClientId.init)
            let kid = try row.text("kid")
            times.ages[client, default: [:]][kid] = try row.integer("age")
            guard try row.optionalText("takeover") != nil else { continue }
            times.takeovers[client, default: [:]][kid] = try row.integer("takeover")
        }
        return times
    }

    private static func tokens(_ session: ControlSession) throws(PostgresError) -> [APIToken] {
        try session.query(
            """
            SELECT token_id, tenant_id, digest, array_to_string(scopes, ' ') AS scopes,
                floor(extract(epoch FROM expires_at))::bigint AS expires_at, revoked_at IS NOT NULL AS revoked
            FROM broker.api_token
            """
        ).map { (row) throws(PostgresError) in
            APIToken(
                id: try row.text("token_id"), tenant: try parse(row, "tenant_id", TenantId.init),
                digest: try row.bytes("digest"),
                // A scope of a newer version is none here: it lets nothing through.
                scopes: Set(
                    try row.text("scopes").split(separator: " ").compactMap {
                        APIToken.Scope(rawValue: String($0))
                    }),
                expiresAt: try row.integer("expires_at"), isRevoked: try row.boolean("revoked"))
        }
    }

    private static func blocks(_ session: ControlSession) throws(PostgresError) -> [Block] {
        try session.query("SELECT dpop_jkt, client_id FROM broker.blocked_install").map {
            (row) throws(PostgresError) in
            let client =
                try row.optionalText("client_id") == nil
                ? nil : try parse(row, "client_id", ClientId.init)
            return Block(jkt: try parse(row, "dpop_jkt", DpopJkt.init), client: client)
        }
    }

    private static func overrides(
        _ session: ControlSession
    ) throws(PostgresError) -> [(override: LimitOverride.Declared, left: Int64)] {
        try session.query(
            """
            SELECT override_id, scope, tenant_id, client_id, dpop_jkt, burst, rate, per,
                ceil(extract(epoch FROM ends_at - clock_timestamp()) * 1000000)::bigint AS left
            FROM broker.limit_override
            """
        ).map { (row) throws(PostgresError) in
            (override: try LimitOverride.Declared(row), left: try row.integer("left"))
        }
    }

    static func parse<Value>(
        _ row: SQLRow, _ column: String, _ make: (String) -> Value?
    ) throws(PostgresError) -> Value {
        guard let value = make(try row.text(column)) else {
            throw .unexpectedAnswer("malformed \(column)")
        }
        return value
    }
}
