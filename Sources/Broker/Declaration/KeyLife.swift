import AssertionMint
import JOSE

/// The keys of one client as the database has them, and what may become of them. Pure: ages come from the database's clock.
struct KeyLife: Sendable {
    let client: ClientId
    let settings: ClientSettings
    /// Each with the seconds it has been in its present state.
    let stored: [(key: Declaration.Key, age: Int64)]
    /// How long an assertion that is still good may live, in seconds: more than now declared, soon after that was changed.
    let lifetime: Int64
    /// Seconds until a pending key takes over by itself, by its kid; one of them at most.
    let takeover: [String: Int64]

    enum Change: Sendable {
        /// Publishes a key that does not sign yet.
        case add(Declaration.Key)
        /// Lets a key sign; the one that signed until now is published on.
        case activate(kid: String)
        /// Lets a pending key sign in so many seconds; `nil` takes that back.
        case schedule(kid: String, in: Int64?)
        /// Takes a key out of the set.
        case retire(kid: String)
    }

    /// What a change comes to.
    enum Outcome: Sendable, Equatable {
        /// All keys of the client afterwards.
        case keys([Declaration.Key])
        /// No key changes now; the moment is to be kept.
        case scheduled
        /// It was made before.
        case alreadySo
        /// There is no key of that name.
        case unknownKey
        /// Why not, and what to do.
        case refused(String)
    }

    /// - Parameter now: without the times that keep providers working, as after a leak.
    func outcome(of change: Change, now: Bool = false) -> Outcome {
        let outcome = unhurried(change)
        guard case .keys(let keys) = outcome, !now else { return outcome }
        let overlap = KeyOverlap(client: client, stored: stored, lifetime: lifetime)
        let conflicts = overlap.conflicts(keys)
        return conflicts.isEmpty ? outcome : .refused(conflicts.joined(separator: "\n"))
    }

    private func unhurried(_ change: Change) -> Outcome {
        var keys = stored.map(\.key)
        switch change {
        case .add(let key): return adding(key)
        case .schedule(let kid, let wait): return scheduling(kid, wait)
        case .activate(let kid):
            guard let place = keys.firstIndex(where: { $0.kid == kid }) else { return .unknownKey }
            if keys[place].state == .active { return .alreadySo }
            for other in keys.indices where keys[other].state == .active {
                keys[other] = keys[other].inState(.retiring)
            }
            keys[place] = keys[place].inState(.active)
        case .retire(let kid):
            guard let place = keys.firstIndex(where: { $0.kid == kid }) else { return .unknownKey }
            guard keys[place].state != .active else {
                return .refused("key \(kid) signs; activate another first")
            }
            keys.remove(at: place)
        }
        return .keys(keys)
    }

    private func adding(_ key: Declaration.Key) -> Outcome {
        guard key.publicJWK.algorithm == settings.algorithm else {
            return .refused(
                "the key is for \(key.publicJWK.algorithm), and client \(client) signs \(settings.algorithm)"
            )
        }
        if let known = stored.first(where: { $0.key.publicJWK.material == key.publicJWK.material })
        {
            guard known.key.kid == key.kid, known.key.uri == key.uri else {
                return .refused("this key is there already: kid \(known.key.kid), \(known.key.uri)")
            }
            return .alreadySo
        }
        if let other = stored.first(where: { $0.key.uri == key.uri }) {
            return .refused(
                "\(key.uri) is where key \(other.key.kid) is; another key needs another place")
        }
        guard !stored.contains(where: { $0.key.kid == key.kid }) else {
            return .refused("kid \(key.kid) is another key already; a key id is never used twice")
        }
        return .keys(stored.map(\.key) + [key])
    }

    private func scheduling(_ kid: String, _ wait: Int64?) -> Outcome {
        guard let row = stored.first(where: { $0.key.kid == kid }) else { return .unknownKey }
        guard row.key.state == .pending else {
            return .refused(
                "key \(kid) is \(row.key.state.rawValue); only a pending one takes over later")
        }
        guard let wait else { return takeover[kid] == nil ? .alreadySo : .scheduled }
        guard wait > 0 else {
            return .refused("that moment has passed; without --at the key signs now")
        }
        if let other = takeover.keys.first(where: { $0 != kid }) {
            return .refused("key \(other) takes over already; take that back with '--at never'")
        }
        let early = KeyOverlap.published - (row.age + wait)
        guard early <= 0 else {
            return .refused(
                "key \(kid) must be published for longer by then; \(early) s later it is")
        }
        return .scheduled
    }

    /// Seconds until the key may sign, or may leave the set: until whatever it waits for.
    func wait(for row: (key: Declaration.Key, age: Int64)) -> Int64 {
        switch row.key.state {
        case .pending: max(0, KeyOverlap.published - row.age)
        case .retiring: max(0, KeyOverlap.needed(lifetime) - row.age)
        case .active: 0
        }
    }
}

extension Declaration.Key {
    func inState(_ state: KeyState) -> Declaration.Key {
        Declaration.Key(kid: kid, uri: uri, state: state, publicJWK: publicJWK)
    }
}
