import AssertionMint
import JOSE

/// What has to change so that the database holds what a file declares. Pure: made from the file and from what is there.
struct DeclarationPlan: Sendable {
    struct Client: Sendable {
        let id: ClientId
        let tenant: TenantId
        let settings: ClientSettings
        /// All keys the client has afterwards; `nil` when they stay as they are.
        let keys: [Declaration.Key]?
        let isChanged: Bool
    }

    /// Tenants to write, each new or with other settings.
    private(set) var tenants: [(id: TenantId, settings: TenantSettings)] = []
    /// Clients to write.
    private(set) var clients: [Client] = []
    /// Clients to remove with their keys.
    private(set) var removedClients: [ClientId] = []
    /// Tenants to remove with their tokens.
    private(set) var removedTenants: [TenantId] = []
    /// One line a change, `+` new, `~` changed, `-` removed.
    private(set) var lines: [String] = []
    /// What is in the database, not in the file, and stays.
    private(set) var kept: [String] = []
    /// Why the file cannot be applied to this database.
    private(set) var conflicts: [String] = []

    var isEmpty: Bool { lines.isEmpty }

    /// - Parameters:
    ///   - prune: whether what the file does not name is removed.
    ///   - keysNow: whether keys change without the times of `KeyOverlap`, as after a leak.
    init(_ declaration: Declaration, over rows: DeclarationRows, prune: Bool, keysNow: Bool = false)
    {
        let existing = Dictionary(rows.clients.map { ($0.id, $0) }) { first, _ in first }
        for tenant in declaration.tenants.sorted(by: { $0.id < $1.id }) {
            planTenant(tenant, over: rows.tenants[tenant.id])
            for client in tenant.clients.sorted(by: { $0.id < $1.id }) {
                planClient(
                    client, tenant: tenant.id, over: existing[client.id],
                    keys: rows.keys[client.id] ?? [], ages: rows.keyAges[client.id] ?? [:],
                    scheduled: Set((rows.takeovers[client.id] ?? [:]).keys), keysNow: keysNow)
            }
        }
        let declaredClients = Set(declaration.tenants.flatMap { $0.clients.map(\.id) })
        let declaredTenants = Set(declaration.tenants.map(\.id))
        for id in existing.keys.sorted() where !declaredClients.contains(id) {
            plan(removal: "client \(id)", prune: prune) { $0.removedClients.append(id) }
        }
        for id in rows.tenants.keys.sorted() where !declaredTenants.contains(id) {
            plan(removal: "tenant \(id) and its tokens", prune: prune) {
                $0.removedTenants.append(id)
            }
        }
    }

    private mutating func plan(removal: String, prune: Bool, _ remove: (inout Self) -> Void) {
        guard prune else {
            kept.append("\(removal) is not in the file and stays; --prune removes it")
            return
        }
        lines.append("- \(removal)")
        remove(&self)
    }

    private mutating func planTenant(_ tenant: Declaration.Tenant, over settings: TenantSettings?) {
        guard settings != tenant.settings else { return }
        lines.append(settings == nil ? "+ tenant \(tenant.id)" : "~ tenant \(tenant.id): limits")
        tenants.append((tenant.id, tenant.settings))
    }

    private mutating func planClient(
        _ client: Declaration.Client, tenant: TenantId, over row: DeclarationRows.Client?,
        keys: [Declaration.Key], ages: [String: Int64], scheduled: Set<String>, keysNow: Bool
    ) {
        var changes: [String] = []
        if let row {
            if row.tenant != tenant {
                changes.append("~ client \(client.id): tenant \(row.tenant) → \(tenant)")
            }
            changes += Self.differences(row.settings, client.settings).map {
                "~ client \(client.id): \($0)"
            }
        } else {
            changes.append("+ client \(client.id) (tenant \(tenant), \(client.settings.algorithm))")
        }
        let isChanged = !changes.isEmpty
        let keyChanges = planKeys(client, over: keys)
        if !keysNow, let row {
            let overlap = KeyOverlap(
                client: client.id, stored: keys.map { ($0, ages[$0.kid] ?? 0) },
                lifetime: row.longestLifetime, scheduled: scheduled)
            conflicts += overlap.conflicts(client.keys)
        }
        lines += changes + keyChanges
        guard isChanged || !keyChanges.isEmpty else { return }
        clients.append(
            Client(
                id: client.id, tenant: tenant, settings: client.settings,
                keys: keyChanges.isEmpty ? nil : client.keys, isChanged: isChanged))
    }

    private mutating func planKeys(_ client: Declaration.Client, over keys: [Declaration.Key])
        -> [String]
    {
        var changes: [String] = []
        for key in client.keys.sorted(by: { $0.kid < $1.kid }) {
            guard let row = keys.first(where: { $0.kid == key.kid }) else {
                changes.append("+ key \(key.kid) of \(client.id): \(key.state.rawValue)")
                continue
            }
            if row.publicJWK.material != key.publicJWK.material {
                conflicts.append(
                    "client \(client.id): kid \(key.kid) is another key already; a key id is never used twice"
                )
            }
            if row.state != key.state {
                changes.append(
                    "~ key \(key.kid) of \(client.id): \(row.state.rawValue) → \(key.state.rawValue)"
                )
            }
            if row.uri != key.uri {
                changes.append("~ key \(key.kid) of \(client.id): \(row.uri) → \(key.uri)")
            }
        }
        for key in keys where !client.keys.contains(where: { $0.kid == key.kid }) {
            changes.append("- key \(key.kid) of \(client.id)")
        }
        return changes
    }

    /// The members of two settings that differ, as `name: old → new`.
    private static func differences(_ old: ClientSettings, _ new: ClientSettings) -> [String] {
        guard old != new else { return [] }
        let (before, after) = (members(old), members(new))
        return Set(before.keys).union(after.keys).sorted().compactMap { name in
            let (old, new) = (before[name], after[name])
            return old == new ? nil : "\(name): \(old ?? "unset") → \(new ?? "unset")"
        }
    }

    private static func members(_ settings: ClientSettings) -> [String: String] {
        var writer = JSONWriter()
        writer.object { settings.writeMembers(to: &$0) }
        let members = (try? JSONValue(parsing: writer.bytes))?.members ?? []
        return Dictionary(
            members.map { member in
                var text = JSONWriter()
                text.value(member.value)
                return (member.name, text.text)
            }
        ) { first, _ in first }
    }
}
