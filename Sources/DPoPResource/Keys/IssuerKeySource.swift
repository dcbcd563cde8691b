public import JOSE

/// Gives the public keys of the issuer whose tokens an API takes.
public protocol IssuerKeySource: Sendable {
    /// The issuer's keys.
    ///
    /// - Parameters:
    ///   - kid: the key id that is looked for; a source that may hold an old set looks again when it does not know it.
    ///   - now: seconds since 1970 UTC.
    func keySet(containing kid: String?, now: Int64) async throws(JWKSFault) -> JWKSet
}

/// The keys at the issuer's `jwks_uri`.
public struct IssuerJWKS: IssuerKeySource {
    private let uri: String
    private let cache: JWKSCache

    /// - Parameters:
    ///   - uri: `jwks_uri` of the issuer's metadata, from the API's configuration and never from a token.
    ///   - cache: may serve several issuers.
    public init(uri: String, cache: JWKSCache) {
        self.uri = uri
        self.cache = cache
    }

    /// The published keys, fetched when that is due.
    public func keySet(containing kid: String?, now: Int64) async throws(JWKSFault) -> JWKSet {
        try await cache.keySet(at: uri, containing: kid, now: now)
    }
}

/// Keys that never change.
public struct FixedIssuerKeys: IssuerKeySource {
    private let keys: JWKSet

    /// Always these keys.
    public init(_ keys: JWKSet) {
        self.keys = keys
    }

    /// The same set every time.
    public func keySet(containing kid: String?, now: Int64) async throws(JWKSFault) -> JWKSet {
        keys
    }
}
