public import JOSE

/// Fetches a key set once, without a memory.
public protocol JWKSFetcher: Sendable {
    /// The set at `uri`.
    func fetch(_ uri: String) async throws(JWKSFault) -> FetchedJWKS
}

/// Why a key set cannot be had.
public enum JWKSFault: Error, Equatable, Sendable {
    /// No answer, or none that is a success.
    case unreachable
    /// An answer that is no key set of at most 64 KiB.
    case malformed
}

/// A fetched key set and how long its publisher lets it be kept.
public struct FetchedJWKS: Sendable, Equatable {
    /// The keys this product can use.
    public let keys: JWKSet
    /// Seconds, `nil` when the publisher does not say.
    public let maximumAge: Int64?

    /// A set as a fetcher found it.
    public init(keys: JWKSet, maximumAge: Int64?) {
        self.keys = keys
        self.maximumAge = maximumAge
    }
}
