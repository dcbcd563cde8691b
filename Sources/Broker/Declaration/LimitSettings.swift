import JOSE

/// One declared rate limit: at most `burst` at once, and `rate` every `per` seconds in the long run.
struct LimitSettings: Hashable, Sendable {
    let burst: Int64
    let rate: Int64
    let per: Int64

    /// The largest `burst` and `rate`.
    static let largest: Int64 = 1_000_000
    /// A day.
    static let longestPer: Int64 = 86_400

    /// The limit as the store decides it.
    ///
    /// - Parameter state: what the store keeps its state by; the name unless given.
    func policy(named name: String, state: String? = nil) -> RatePolicy {
        RatePolicy(
            name: name, burst: Int(burst), stepMicroseconds: (per * 1_000_000 + rate - 1) / rate,
            state: state)
    }

    /// Leaves room for a whole sign-in with all of its retries: start, completion and token request, each with a nonce
    /// repeat and an automatic re-send, three replaced codes, a few taps on "try again", a refresh and a sign-out.
    static let defaultInstall = LimitSettings(burst: 30, rate: 30, per: 60)

    /// Through a gate that anyone's key can pass, fresh installs cost an attacker nothing: only the client's limit stops
    /// such a flood, so there always is one.
    static let defaultClient = LimitSettings(burst: 2000, rate: 1000, per: 1)

    /// A hundred failures a second are one percent of a core's time, and more than the installs behind one address make.
    static let defaultFailedAuthentications = LimitSettings(burst: 1000, rate: 100, per: 1)

    init(burst: Int64, rate: Int64, per: Int64) {
        self.burst = burst
        self.rate = rate
        self.per = per
    }

    init?(_ value: JSONValue, path: String, faults: inout DocumentFaults) {
        guard
            let object = DocumentObject(
                value, path: path, allowed: ["burst", "rate", "per"], faults: &faults)
        else { return nil }
        let before = faults.list.count
        for name in ["burst", "rate", "per"] where object.value(name) == nil {
            faults.add("is missing", path: object.child(name), offset: object.offset)
        }
        burst = object.integer("burst", default: 1, in: 1...Self.largest, &faults)
        rate = object.integer("rate", default: 1, in: 1...Self.largest, &faults)
        per = object.integer("per", default: 1, in: 1...Self.longestPer, &faults)
        guard faults.list.count == before else { return nil }
    }

    /// The limit of that name; `nil` when there is none, or it is at fault.
    init?(_ name: String, in limits: DocumentObject?, faults: inout DocumentFaults) {
        guard let limits, let value = limits.value(name) else { return nil }
        self.init(value, path: limits.child(name), faults: &faults)
    }

    /// Writes the member `shadow`, when there is any.
    static func writeShadows(
        _ shadows: [(name: String, limit: LimitSettings?)], to json: inout JSONWriter
    ) {
        let declared = shadows.compactMap { shadow in shadow.limit.map { (shadow.name, $0) } }
        guard !declared.isEmpty else { return }
        json.name("shadow")
        json.object { json in
            for (name, limit) in declared {
                json.name(name)
                limit.write(to: &json)
            }
        }
    }

    func write(to json: inout JSONWriter) {
        json.object {
            $0.member("burst", burst)
            $0.member("rate", rate)
            $0.member("per", per)
        }
    }
}
