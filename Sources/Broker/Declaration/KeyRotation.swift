/// The way of one rotation: which step is next, from what the database has alone, so that it goes on after any interruption.
/// Pure.
enum KeyRotation {
    enum Step: Sendable, Equatable {
        /// Publish the new key.
        case add
        /// Wait so many seconds, then look again.
        case wait(Int64, for: Reason)
        case activate
        case retire(kid: String)
        case done
        /// The new key signed once and was replaced: this rotation is over.
        case outdated
    }

    enum Reason: Sendable, Equatable {
        /// Providers may still use the key set they fetched before the new key was in it.
        case publication
        /// The new key takes over by itself.
        case schedule
        /// Assertions by the old key may still be good.
        case expiry(kid: String)
    }

    /// - Parameter kid: the new key.
    static func next(to kid: String, in life: KeyLife) -> Step {
        guard let target = life.stored.first(where: { $0.key.kid == kid }) else { return .add }
        switch target.key.state {
        case .pending:
            if let takeover = life.takeover[kid] { return .wait(max(1, takeover), for: .schedule) }
            let wait = life.wait(for: target)
            return wait > 0 ? .wait(wait, for: .publication) : .activate
        case .active:
            // Shortest wait first; keys that wait for their turn are somebody else's.
            let old = life.stored.filter { $0.key.state == .retiring }
                .min { life.wait(for: $0) < life.wait(for: $1) }
            guard let old else { return .done }
            let wait = life.wait(for: old)
            return wait > 0
                ? .wait(wait, for: .expiry(kid: old.key.kid)) : .retire(kid: old.key.kid)
        case .retiring: return .outdated
        }
    }
}
