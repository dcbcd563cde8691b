import JOSE

/// `broker token create|list|revoke`: API tokens of backends, and of the providers and gateways that consume.
enum TokenCommand {
    static let help = """
        Usage: broker token create --tenant T [--scope SCOPES] [--expires-in 90d] [--label TEXT]
               broker token list [--tenant T]
               broker token revoke TOKEN_ID

        create  prints a new token, alone, on standard output. It is shown this once; the database
                keeps only its SHA-256 digest. SCOPES says what it is good for: mint (unless given), for
                a backend that asks for tokens; consume, for a provider or gateway that has assertions
                verified and burnt; or both, as mint,consume. --expires-in takes s, m, h or d (90d unless given).
                Replicas know it within about a second.
        list    shows id, tenant, scopes, expiry and state of tokens, never a token.
        revoke  ends a token; every replica refuses it from its next batch on.

        \(DatabaseOptions.help)
        """

    static func run(_ words: [String]) async throws(CommandError) {
        let rest = Array(words.dropFirst())
        switch words.first {
        case "create": try await create(rest)
        case "list": try await list(rest)
        case "revoke": try await revoke(rest)
        default: throw .usage("the word after 'token' must be create, list or revoke")
        }
    }

    private static func create(_ words: [String]) async throws(CommandError) {
        let arguments = try Arguments(
            words,
            options: DatabaseOptions.options.union([
                "--tenant", "--scope", "--expires-in", "--label",
            ]))
        let tenant = try tenantId(try arguments.required("--tenant"))
        let scopes = try scopes(arguments.value("--scope") ?? "mint")
        guard let lifetime = Lifetime.seconds(arguments.value("--expires-in") ?? "90d") else {
            throw .usage("--expires-in must be a number with s, m, h or d, such as 90d")
        }
        let label = try arguments.remark("--label", maximumLength: 200)
        let repository = TokenRepository(connection: try DatabaseOptions.connection(arguments))
        let token: String
        let id: String
        do {
            token = "tb_" + Base64URL.encode(try SecureRandom.bytes(32))
            id = Base64URL.encode(try SecureRandom.bytes(9))
        } catch {
            throw .unavailable("no randomness: \(error)")
        }
        do {
            let isCreated = try await repository.create(
                id: id, tenant: tenant, digest: SHA256.hash(token.utf8), scopes: scopes,
                label: label,
                lifetime: lifetime)
            guard isCreated else { throw CommandError.notFound("there is no tenant \(tenant)") }
        } catch let error as PostgresError {
            throw CommandError(error)
        } catch let error as CommandError {
            throw error
        } catch {
            throw .unavailable("\(error)")
        }
        Output.note(
            "token \(id) for tenant \(tenant), scope \(scopes.map(\.rawValue).joined(separator: ",")); it is shown only now:"
        )
        Output.line(token)
    }

    private static func list(_ words: [String]) async throws(CommandError) {
        let arguments = try Arguments(words, options: DatabaseOptions.options.union(["--tenant"]))
        let tenant = try arguments.value("--tenant").map(tenantId)
        let repository = TokenRepository(connection: try DatabaseOptions.connection(arguments))
        do {
            for row in try await repository.list(tenant: tenant) {
                Output.line(
                    "\(row.id)\t\(row.tenant)\t\(row.scopes)\t\(row.expiresAt)\t\(row.state)\t\(row.label)"
                )
            }
        } catch {
            throw CommandError(error)
        }
    }

    private static func revoke(_ words: [String]) async throws(CommandError) {
        let arguments = try Arguments(words, options: DatabaseOptions.options, positional: 1...1)
        let id = arguments.positional[0]
        let repository = TokenRepository(connection: try DatabaseOptions.connection(arguments))
        let isRevoked: Bool
        do { isRevoked = try await repository.revoke(id: id) } catch { throw CommandError(error) }
        guard isRevoked else { throw .notFound("there is no good token \(id)") }
        Output.line("revoked \(id)")
    }

    /// Names with commas between them, none twice.
    private static func scopes(_ text: String) throws(CommandError) -> [APIToken.Scope] {
        let names = text.split(separator: ",", omittingEmptySubsequences: false)
        let scopes = names.compactMap { APIToken.Scope(rawValue: String($0)) }
        guard scopes.count == names.count, Set(scopes).count == scopes.count else {
            let all = APIToken.Scope.allCases.map(\.rawValue).joined(separator: ", ")
            throw .usage("--scope must be one of \(all), or several with commas, none twice")
        }
        return scopes
    }

    private static func tenantId(_ text: String) throws(CommandError) -> TenantId {
        guard let tenant = TenantId(text) else {
            throw .usage("--tenant: no such name is possible")
        }
        return tenant
    }
}
