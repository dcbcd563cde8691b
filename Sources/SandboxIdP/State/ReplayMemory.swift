/// Remembers what was used until it could not be accepted any more anyway.
struct ReplayMemory: Sendable {
    private var expiries: [String: Int64] = [:]
    private var sweepAt = 1024

    /// Whether this is the first use of `id`; from then on it is used.
    ///
    /// - Parameters:
    ///   - until: seconds since 1970 UTC up to which a second use must be recognised.
    ///   - now: seconds since 1970 UTC.
    mutating func spend(_ id: String, until: Int64, now: Int64) -> Bool {
        if let expiry = expiries[id], expiry >= now { return false }
        expiries[id] = until
        if expiries.count >= sweepAt {
            expiries = expiries.filter { $0.value >= now }
            sweepAt = max(1024, expiries.count * 2)  // so that a sweep costs a constant an entry
        }
        return true
    }

    /// How many entries are held.
    var count: Int { expiries.count }
}
