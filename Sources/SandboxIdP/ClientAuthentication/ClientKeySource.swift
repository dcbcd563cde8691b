import JOSE

/// Gives the public keys of a client.
protocol ClientKeySource: Sendable {
    /// The client's key set.
    ///
    /// - Parameters:
    ///   - kid: a key id the caller looks for; a source that may hold an old set looks again when it does not know it.
    ///   - now: seconds since 1970 UTC.
    func keys(of client: Client, containing kid: String?, now: Int64) async throws(ClientKeyFault)
        -> JWKSet
}

/// Why a client's keys cannot be had.
enum ClientKeyFault: Error, Equatable, Sendable {
    /// No answer, or none that is a success.
    case unreachable
    /// An answer that is no key set of at most 64 KiB.
    case malformed
}

/// A fetched document and how long its publisher lets it be kept.
struct FetchedKeys: Sendable, Equatable {
    let keys: JWKSet
    /// Seconds, `nil` when the publisher does not say.
    let maximumAge: Int64?
}

/// Fetches a key set once, without a memory.
protocol ClientKeyFetcher: Sendable {
    func fetch(_ uri: String) async throws(ClientKeyFault) -> FetchedKeys
}
