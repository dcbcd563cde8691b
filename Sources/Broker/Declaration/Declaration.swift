import AssertionMint
import JOSE

/// A declaration file, read and checked: tenants, their clients, and the keys these sign with.
struct Declaration: Sendable {
    struct Tenant: Sendable {
        let id: TenantId
        let settings: TenantSettings
        let clients: [Client]
    }

    struct Client: Sendable {
        let id: ClientId
        let settings: ClientSettings
        let keys: [Key]
    }

    /// A key as it is kept: its URI and its public half, never the private one.
    struct Key: Sendable, Hashable {
        let kid: String
        let uri: String
        let state: KeyState
        let publicJWK: PublicJWK
    }

    let tenants: [Tenant]
}

/// Where a key stands in its life (`design.md` §6).
enum KeyState: String, Sendable, CaseIterable {
    /// Published, not yet signing.
    case pending
    /// Signs; one of each client's keys at most.
    case active
    /// Published until the last assertion it signed has expired, no longer signing.
    case retiring
}
