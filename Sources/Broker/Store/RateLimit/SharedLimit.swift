/// A limit that many installs share: one row that every batch with such a request would queue for.
struct SharedLimit: Hashable, Sendable {
    enum Scope: String, Sendable {
        case client, tenant
    }

    let scope: Scope
    /// The client's or tenant's id.
    let subject: String
    let policy: RatePolicy
}

/// How a shared limit is handed to lanes, so that they need not queue for its row at every batch.
///
/// A lane may take permits beyond what a batch needs and use them within `windowMicroseconds` of sending that
/// batch; then they lapse. The database in turn only hands out `databaseBurst`, the burst less what comes back
/// in one window. Whatever passes in an interval of length t was therefore granted by the database in an interval
/// of t + window, which is at most
///
///     databaseBurst + rate × (t + window)  ≤  burst + rate × t
///
/// for any number of lanes and replicas, and without knowing how many there are. A permit passes when its batch
/// is handed to the database.
///
/// A limit too small or too slow for that to be worth anything has no window: every permit comes straight from
/// the row and the whole burst can be used.
struct LeasePlan: Sendable, Equatable {
    /// 0: nothing is leased.
    let windowMicroseconds: Int64
    let databaseBurst: Int

    static let longestWindowMicroseconds: Int64 = 100_000
    /// A lease that saves fewer visits to the row than this is not worth its permits.
    static let fewestPermitsAWindow: Int64 = 8

    init(_ policy: RatePolicy) {
        // At most an eighth of the burst is kept back.
        let window = min(
            Self.longestWindowMicroseconds, Int64(policy.burst) * policy.stepMicroseconds / 8)
        let keptBack = (window + policy.stepMicroseconds - 1) / policy.stepMicroseconds
        if keptBack >= Self.fewestPermitsAWindow && keptBack < Int64(policy.burst) {
            windowMicroseconds = window
            databaseBurst = policy.burst - Int(keptBack)
        } else {
            windowMicroseconds = 0
            databaseBurst = policy.burst
        }
    }

    /// The most a lane leases at once, so that one lane cannot hold what all share.
    var largestLease: Int64 { windowMicroseconds == 0 ? 0 : Int64(max(1, databaseBurst / 8)) }
}
