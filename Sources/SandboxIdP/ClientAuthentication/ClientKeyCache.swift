import JOSE

/// Keeps each client's key set as long as its publisher allows, within bounds, and fetches it once more when a key id is
/// not in it. One fetch of a set runs at a time; who comes during it waits for it.
actor ClientKeyCache: ClientKeySource {
    /// The bounds around the publisher's `max-age`, and how often an unknown key id may cause a fetch. Seconds.
    struct Bounds: Sendable {
        var minimumAge: Int64 = 300
        var maximumAge: Int64 = 86_400
        var cooldown: Int64 = 10
    }

    private struct Entry {
        var keys: JWKSet
        var fetchedAt: Int64
        var freshUntil: Int64
    }

    private let fetcher: any ClientKeyFetcher
    private let bounds: Bounds
    private var entries: [String: Entry] = [:]
    private var failures: [String: Int64] = [:]
    private var running: [String: Task<FetchedKeys?, Never>] = [:]

    init(fetcher: any ClientKeyFetcher, bounds: Bounds = Bounds()) {
        self.fetcher = fetcher
        self.bounds = bounds
    }

    func keys(
        of client: Client, containing kid: String?, now: Int64
    ) async throws(ClientKeyFault) -> JWKSet {
        let uri = client.jwksURI
        if let entry = entries[uri], !needsFetch(entry, kid, now) { return entry.keys }
        if entries[uri] == nil || isOver(failures[uri], now) { await fetch(uri, now) }
        // A set that could not be renewed still serves: the last good one (standards digest §3.6).
        guard let entry = entries[uri] else { throw .unreachable }
        return entry.keys
    }

    private func needsFetch(_ entry: Entry, _ kid: String?, _ now: Int64) -> Bool {
        if now >= entry.freshUntil { return true }
        guard let kid, !entry.keys.keys.contains(where: { $0.kid == kid }) else { return false }
        return isOver(entry.fetchedAt, now)
    }

    private func isOver(_ start: Int64?, _ now: Int64) -> Bool {
        start.map { now >= $0 + bounds.cooldown } ?? true
    }

    private func fetch(_ uri: String, _ now: Int64) async {
        if let running = running[uri] {
            _ = await running.value
            return
        }
        let fetcher = fetcher
        let task = Task { try? await fetcher.fetch(uri) }
        running[uri] = task
        let fetched = await task.value
        running[uri] = nil
        guard let fetched else {
            failures[uri] = now
            return
        }
        failures[uri] = nil
        let age = min(max(fetched.maximumAge ?? 0, bounds.minimumAge), bounds.maximumAge)
        entries[uri] = Entry(keys: fetched.keys, fetchedAt: now, freshUntil: now + age)
    }
}
