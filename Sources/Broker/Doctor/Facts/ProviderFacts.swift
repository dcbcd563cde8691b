import AssertionMint

/// What the network said: providers' metadata and clients' key sets, each fetched once.
struct NetworkFacts: Sendable {
    var metadata: [Issuer: FetchedDocument] = [:]
    var keySets: [String: FetchedDocument] = [:]
}
