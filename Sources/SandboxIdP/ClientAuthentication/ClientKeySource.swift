import DPoPResource
import JOSE

/// Gives the public keys of a client.
protocol ClientKeySource: Sendable {
    /// The client's key set.
    ///
    /// - Parameters:
    ///   - kid: a key id the caller looks for; a source that may hold an old set looks again when it does not know it.
    ///   - now: seconds since 1970 UTC.
    func keys(of client: Client, containing kid: String?, now: Int64) async throws(JWKSFault)
        -> JWKSet
}

/// Each client's keys as published at its `jwks_uri`.
struct PublishedClientKeys: ClientKeySource {
    private let cache: JWKSCache

    init(fetcher: any JWKSFetcher) {
        cache = JWKSCache(fetcher: fetcher)
    }

    func keys(
        of client: Client, containing kid: String?, now: Int64
    ) async throws(JWKSFault) -> JWKSet {
        try await cache.keySet(at: client.jwksURI, containing: kid, now: now)
    }
}
