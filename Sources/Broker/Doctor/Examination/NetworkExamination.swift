import AssertionMint

/// Fetches the metadata of providers and the key sets of clients, many at once.
struct NetworkExamination: Sendable {
    let fetcher: DocumentFetcher

    /// Octets of metadata; as much as the SDK reads (R-100-26).
    static let longestMetadata = 1 << 20
    /// Octets of a key set; as much as a strict provider reads.
    static let longestKeySet = 64 << 10

    func examine(issuers: Set<Issuer>, keySets: Set<String>) async -> NetworkFacts {
        await withTaskGroup(of: Fetched.self) { group in
            for issuer in issuers {
                group.addTask { .metadata(issuer, await metadata(of: issuer)) }
            }
            for url in keySets {
                group.addTask {
                    .keySet(url, await fetcher.get(url, maximumLength: Self.longestKeySet))
                }
            }
            var facts = NetworkFacts()
            for await fetched in group {
                switch fetched {
                case .metadata(let issuer, let document): facts.metadata[issuer] = document
                case .keySet(let url, let document): facts.keySets[url] = document
                }
            }
            return facts
        }
    }

    private enum Fetched: Sendable {
        case metadata(Issuer, FetchedDocument)
        case keySet(String, FetchedDocument)
    }

    /// Where OpenID Connect Discovery puts it and, when nothing is there, where RFC 8414 does (R-100-40).
    private func metadata(of issuer: Issuer) async -> FetchedDocument {
        let (openId, oauth) = ProviderMetadata.locations(of: issuer)
        let first = await fetcher.get(openId, maximumLength: Self.longestMetadata)
        guard case .failure(.status(404)) = first.document else { return first }
        return await fetcher.get(oauth, maximumLength: Self.longestMetadata)
    }
}
