import AssertionMint
import JOSE

/// Reads the whole declaration at one revision and makes a `Directory` of it.
struct DirectoryRepository: Sendable {
    let connection: ControlConnection
    let keys: SigningKeys
    var clock = WallClock.system

    /// - Throws: `PostgresError`. A row the broker cannot understand is an `unexpectedAnswer` that names it: a directory with
    ///   a client left out would answer "unknown" for a client that exists.
    func load() async throws(PostgresError) -> Directory { try await load(keys) }

    /// The same with every key opened anew, kept only if each client can sign with it: all or nothing.
    ///
    /// - Throws: `CommandError` that names what cannot be used.
    func loadAnew() async throws(CommandError) -> Directory {
        let fresh = keys.emptied()
        let directory: Directory
        do { directory = try await load(fresh) } catch { throw .unavailable("\(error)") }
        if let faults = directory.unusableClientsText { throw .refused(faults) }
        keys.adopt(fresh)
        return directory
    }

    private func load(_ keys: SigningKeys) async throws(PostgresError) -> Directory {
        let rows = try await connection.transaction { session throws(PostgresError) in
            try DeclarationRows(session)
        }
        // After the answer: a secret that takes over a moment late does no harm, one too early might.
        let now = clock.seconds
        let steadyNow = MonotonicTime.now()
        var usedURIs: Set<String> = []
        var clients: [RegisteredClient] = []
        for row in rows.clients {
            let clientKeys = rows.keys[row.id] ?? []
            usedURIs.formUnion(clientKeys.map(\.uri))
            let (signing, device) = await Self.signing(row, clientKeys, keys)
            if let tokens = row.settings.transportTokens { usedURIs.insert(tokens.secretURI) }
            clients.append(
                RegisteredClient(
                    id: row.id, tenant: row.tenant, settings: row.settings,
                    tenantSettings: row.tenantSettings, signing: signing, device: device,
                    transportTokens: await Self.transportTokens(row.settings, keys),
                    publicKeys: clientKeys.map(\.publicJWK),
                    pendingKeys: clientKeys.filter { $0.state == .pending }))
        }
        keys.keep(only: usedURIs)
        guard
            let nonces = DPoPNonces(
                secrets: rows.nonceSecrets.map { .init(value: $0.value, age: $0.age, now: now) })
        else {
            throw .unexpectedAnswer("no usable secret for DPoP nonces")
        }
        return Directory(
            revision: rows.revision, clients: clients, tokens: rows.tokens, blocks: rows.blocks,
            nonces: nonces,
            overrides: rows.overrides.map {
                LimitOverride($0.override, endsAt: steadyNow.adding(microseconds: $0.left))
            })
    }

    /// The revision the database has now, after keys whose time has come took over, and its clock.
    func look() async throws(PostgresError) -> (revision: Int64, clock: ClockReading) {
        let sentAt = clock.microseconds()
        let rows = try await connection.query(
            """
            SELECT broker.take_over_keys() AS revision,
                (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
            """)
        let receivedAt = clock.microseconds()
        guard let row = rows.first else { throw .unexpectedAnswer("no declaration") }
        return (
            try row.integer("revision"),
            ClockReading(
                database: try row.integer("now"), sentAt: sentAt, receivedAt: receivedAt)
        )
    }

    /// Lets the database make the secret of the DPoP nonces when there is none; of several replicas that start at once one wins.
    func ensureNonceSecret() async throws(PostgresError) {
        _ = try await connection.query(
            """
            SELECT broker.rotate_nonce_secret()
            WHERE NOT EXISTS (SELECT FROM broker.server_secret WHERE name = 'dpop-nonce')
            """)
    }

    private static func transportTokens(
        _ settings: ClientSettings, _ keys: SigningKeys
    ) async -> RegisteredClient.TransportTokens {
        guard let tokens = settings.transportTokens else { return .notEnabled }
        do {
            let secret = try await keys.secret(uri: tokens.secretURI)
            return .ready(TransportTokenSigner(secret: secret, profile: tokens.profile))
        } catch {
            return .unusable("\(tokens.secretURI): \(error)")
        }
    }

    private static func signing(
        _ client: DeclarationRows.Client, _ clientKeys: [Declaration.Key], _ keys: SigningKeys
    ) async -> (RegisteredClient.Signing, KeyDevice?) {
        guard let active = clientKeys.first(where: { $0.state == .active }) else {
            return (.unusable("no key is active"), nil)
        }
        guard active.publicJWK.algorithm == client.settings.algorithm else {
            return (.unusable("the active key is for \(active.publicJWK.algorithm)"), nil)
        }
        do {
            let loaded = try await keys.key(uri: active.uri, publicJWK: active.publicJWK)
            let signer = AssertionSigner(
                clientId: client.id, key: loaded.key, kid: active.kid,
                profile: client.settings.profile)
            return (.ready(signer), loaded.device)
        } catch {
            return (.unusable("\(active.uri): \(error)"), nil)
        }
    }
}
