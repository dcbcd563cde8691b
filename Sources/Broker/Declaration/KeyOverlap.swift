import AssertionMint

/// Keeps a change of keys from causing an outage: a provider may go on using the key set it fetched for as long as the set's
/// `max-age` says, so a key must be published that long before it signs, and until the last assertion it signed has expired.
///
/// Pure: ages come from the database's clock.
struct KeyOverlap {
    let client: ClientId
    /// What the database has, with the seconds each key has been in its present state.
    let stored: [(key: Declaration.Key, age: Int64)]
    /// How long the longest-lived thing that the keys sign lived until now, in seconds.
    let lifetime: Int64
    /// The kids of pending keys that are to take over by themselves.
    var scheduled: Set<String> = []

    /// Seconds a key is published before it signs: what a provider may keep, and what replicas may take to learn of it.
    static let published = Int64(KeySetRoute.maximumAge) + 10

    /// Seconds a key is published after it signed last, when an assertion lives `lifetime`.
    static func needed(_ lifetime: Int64) -> Int64 { lifetime + skew }

    /// Seconds a verifier's clock may be behind (FAPI 2.0 §5.3.2.1).
    private static let skew: Int64 = 60

    /// Why these keys cannot replace the stored ones now; empty when they can. A client without keys has nothing to overlap.
    func conflicts(_ declared: [Declaration.Key]) -> [String] {
        guard !stored.isEmpty else { return [] }
        return declared.compactMap(tooEarly) + stored.compactMap { tooLate($0, declared) }
    }

    private func tooEarly(_ key: Declaration.Key) -> String? {
        guard key.state != .pending else { return nil }
        let published = Self.published
        let row = stored.first { $0.key.kid == key.kid }
        // Else it could be made active a moment later, without ever having been published for long enough.
        if key.state == .retiring, row == nil || row?.key.state == .pending {
            return
                "client \(client): key \(key.kid) never signed; declare it pending, not retiring"
        }
        guard key.state == .active else { return nil }
        guard let row else {
            return
                "client \(client): key \(key.kid) is new; declare it pending for \(published) s before it signs"
        }
        guard row.key.state == .pending, row.age < published else { return nil }
        return
            "client \(client): key \(key.kid) must stay pending for another \(published - row.age) s before it signs"
    }

    private func tooLate(_ row: (key: Declaration.Key, age: Int64), _ declared: [Declaration.Key])
        -> String?
    {
        let needed = Self.needed(lifetime)
        if let next = declared.first(where: { $0.kid == row.key.kid }) {
            // A pending key may go at any time, since it has signed nothing; this one has.
            guard next.state == .pending, row.key.state != .pending else { return nil }
            return
                "client \(client): key \(row.key.kid) has signed; declare it retiring, not pending"
        }
        switch row.key.state {
        case .pending:
            guard scheduled.contains(row.key.kid) else { return nil }
            return
                "client \(client): key \(row.key.kid) is to take over; declare it pending, or take that back with 'broker key activate --at never'"
        case .active:
            return
                "client \(client): key \(row.key.kid) signs; declare it retiring for \(needed) s before it goes"
        case .retiring:
            guard row.age < needed else { return nil }
            return
                "client \(client): key \(row.key.kid) must stay retiring for another \(needed - row.age) s"
        }
    }
}
