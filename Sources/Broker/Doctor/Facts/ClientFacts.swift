import AssertionMint
import JOSE

/// Everything about one client that can be known without asking its provider.
struct ClientFacts: Sendable {
    let id: ClientId
    let tenant: TenantId
    let settings: ClientSettings
    let tenantLimit: LimitSettings?
    let keys: [KeyFacts]
    /// `nil` for a client without transport tokens.
    var secret: SecretFacts?

    var activeKey: KeyFacts? { keys.first { $0.key.state == .active } }

    /// Where the client's provider fetches its keys: as declared, or where the broker serves them; `nil` when neither is
    /// known.
    func keySetURL(_ server: ServerFacts?) -> String? {
        settings.jwksURI
            ?? server.map {
                // `public_url` has no path, so it ends with the one slash of an empty one.
                "\($0.publicURL.htu.dropLast())"
                    + RoutePattern.keySet.rawValue.replacing("{client_id}", with: id.pathSegment)
            }
    }
}

/// A declared key, and what came of using it.
struct KeyFacts: Sendable {
    let key: Declaration.Key
    /// Seconds it has been in its present state, on the database's clock.
    let age: Int64
    let trial: KeyTrial
}

/// The declared secret of a client's transport tokens, and what came of opening it.
struct SecretFacts: Sendable, Equatable {
    let uri: String
    /// Why it cannot be used, without any of its text; `nil` when it can.
    let fault: String?
}

/// What came of opening a key and signing with it.
enum KeyTrial: Sendable, Equatable {
    /// It made one assertion for each of the client's issuers, and the client's own verifier takes them.
    case mints([DryMint])
    /// It signs. Of keys that are not active no assertion is made.
    case signs
    /// It cannot be opened, is another key than the declared one, or does not sign.
    case unusable(String)
    /// It made an assertion that the client's own verifier refuses.
    case rejected(String)
}

/// What an assertion looks like: never its signature, so that nothing usable is shown.
struct DryMint: Sendable, Equatable {
    let clientId: ClientId
    let audience: Issuer
    /// The decoded header, a JSON object.
    let header: String
    /// The decoded claims, a JSON object.
    let claims: String
}

/// What the clients share.
struct SharedFacts: Sendable {
    /// Of all tenants, good or not.
    let tokens: [APIToken]
    /// Tokens that `serve` could not even read: their expiry is infinite.
    let endlessTokens: [String]
    /// Seconds since each secret of the DPoP nonces was made, on the database's clock.
    let nonceAges: [Int64]
    /// Those that have not ended.
    let overrides: [LimitOverride.Declared]
    /// Of the database's clock, seconds since 1970 UTC.
    let now: Int64
    /// `nil` without the configuration of `serve`.
    let server: ServerFacts?
}

/// What the configuration of `serve` says that matters to clients.
struct ServerFacts: Sendable {
    let publicURL: HTTPTargetURI
    let takesCertificates: Bool
}
