public import JOSE

/// Keeps key sets as long as their publisher allows, within bounds, and fetches one once more when a key id is not in it.
/// One fetch of a set runs at a time; who comes during it waits for it.
public actor JWKSCache {
    /// The bounds around the publisher's `max-age`, and how often unknown key ids may cause a fetch. Seconds.
    public struct Bounds: Sendable {
        /// A set is kept this long whatever its publisher says.
        public var minimumAge: Int64 = 300
        /// And no longer than this.
        public var maximumAge: Int64 = 86_400
        /// From one fetch to the next that an unknown key id, or the failure of the last, may cause.
        public var cooldown: Int64 = 10

        /// Five minutes, a day, ten seconds.
        public init() {}
    }

    private struct Entry {
        var keys: JWKSet
        var fetchedAt: Int64
        var freshUntil: Int64
    }

    private let fetcher: any JWKSFetcher
    private let bounds: Bounds
    private var entries: [String: Entry] = [:]
    private var failures: [String: (fault: JWKSFault, at: Int64)] = [:]
    private var running: [String: Task<Void, Never>] = [:]

    /// An empty cache.
    public init(fetcher: any JWKSFetcher, bounds: Bounds = Bounds()) {
        self.fetcher = fetcher
        self.bounds = bounds
    }

    /// The set published at `uri`.
    ///
    /// - Parameters:
    ///   - kid: a key id that is looked for; without it a fresh set is never fetched again.
    ///   - now: seconds since 1970 UTC.
    /// - Throws: `JWKSFault` when no set was ever fetched. Then there is at most one new try a second.
    public func keySet(
        at uri: String, containing kid: String?, now: Int64
    ) async throws(JWKSFault) -> JWKSet {
        if needsFetch(uri, kid, now) { await fetch(uri, now) }
        // A set that could not be renewed still serves: the last good one.
        if let entry = entries[uri] { return entry.keys }
        throw failures[uri]?.fault ?? .unreachable
    }

    private func needsFetch(_ uri: String, _ kid: String?, _ now: Int64) -> Bool {
        guard let entry = entries[uri] else { return failures[uri]?.at != now }
        guard isOver(failures[uri]?.at, now) else { return false }
        if now >= entry.freshUntil { return true }
        guard let kid else { return false }
        let isKnown = entry.keys.keys.contains { $0.kid?.utf8.elementsEqual(kid.utf8) == true }
        return !isKnown && isOver(entry.fetchedAt, now)
    }

    private func isOver(_ start: Int64?, _ now: Int64) -> Bool {
        start.map { now >= $0 + bounds.cooldown } ?? true
    }

    private func fetch(_ uri: String, _ now: Int64) async {
        if let running = running[uri] { return await running.value }
        // The task itself keeps what it brings, so that whoever waits for its end finds it.
        let task = Task {
            do throws(JWKSFault) {
                keep(try await fetcher.fetch(uri), at: uri, now)
            } catch {
                failures[uri] = (error, now)
            }
            running[uri] = nil
        }
        running[uri] = task
        await task.value
    }

    private func keep(_ fetched: FetchedJWKS, at uri: String, _ now: Int64) {
        failures[uri] = nil
        let age = min(max(fetched.maximumAge ?? 0, bounds.minimumAge), bounds.maximumAge)
        entries[uri] = Entry(keys: fetched.keys, fetchedAt: now, freshUntil: now + age)
    }
}
