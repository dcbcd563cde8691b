/// The permits of shared limits that one lane holds. Pure: times are parameters, in microseconds on one
/// steady clock of the lane's.
struct LeaseBook: Sendable {
    private struct Lease {
        let plan: LeasePlan
        var permits: Int64 = 0
        /// When `permits` lapse.
        var lapsesAt: Int64 = 0
        /// What this lane spent in the window that began at `windowStart` and in the one before it.
        var windowStart: Int64 = 0
        var spent: Int64 = 0
        var spentBefore: Int64 = 0
        /// No wishes until then: the database had less than wished for, so others need it.
        var modestUntil: Int64 = 0

        mutating func roll(to now: Int64) {
            guard plan.windowMicroseconds > 0 else { return }
            let passed = (now - windowStart) / plan.windowMicroseconds
            if passed <= 0 { return }
            spentBefore = passed == 1 ? spent : 0
            spent = 0
            windowStart = passed == 1 ? windowStart + plan.windowMicroseconds : now
        }
    }

    /// Limits not asked for since long are forgotten once there are more than this.
    private static let mostKept = 1024

    private var leases: [SharedLimit: Lease] = [:]

    /// What a batch needs to know about a limit that `demand` of its records stand under.
    mutating func quote(_ limit: SharedLimit, demand: Int64, now: Int64) -> SharedQuota {
        if leases.count > Self.mostKept {
            leases = leases.filter { $0.value.lapsesAt > now }
        }
        var lease = leases[limit] ?? Lease(plan: LeasePlan(limit.policy))
        lease.roll(to: now)
        if now >= lease.lapsesAt { lease.permits = 0 }
        let isShort = lease.permits < demand
        // As much as it spent lately: a lane with one request a window leases nothing.
        let wish =
            isShort && now >= lease.modestUntil
            ? min(lease.plan.largestLease, max(lease.spent, lease.spentBefore)) : 0
        leases[limit] = lease
        return SharedQuota(
            limit: limit, databaseBurst: lease.plan.databaseBurst, demand: demand,
            held: lease.permits, wish: wish)
    }

    /// Enters the database's answer: `held` permits from now on, `leased` of them new. What is left of an older
    /// lease beside a new one is given up, since one lease has one end.
    mutating func settle(
        _ quota: SharedQuota, held: Int64, leased: Int64, spent: Int64, sentAt: Int64
    ) {
        guard var lease = leases[quota.limit] else { return }
        lease.roll(to: sentAt)
        lease.spent += spent
        if leased > 0 {
            lease.permits = leased
            // From the sending on: the database granted it later than that.
            lease.lapsesAt = sentAt + lease.plan.windowMicroseconds
        } else {
            lease.permits = held
        }
        if leased < quota.wish { lease.modestUntil = sentAt + 4 * lease.plan.windowMicroseconds }
        leases[quota.limit] = lease
    }

    /// Nobody knows whether the batch committed: what it may have spent counts as spent.
    mutating func giveUp(_ quota: SharedQuota) {
        leases[quota.limit]?.permits = 0
    }
}

/// One shared limit as one batch sees it.
struct SharedQuota: Sendable, Equatable {
    let limit: SharedLimit
    /// The burst the database decides by (see `LeasePlan`).
    let databaseBurst: Int
    /// How many of the batch's records stand under it.
    let demand: Int64
    /// Permits the lane holds on lease.
    let held: Int64
    /// Permits it would like to hold beyond what this batch needs.
    let wish: Int64
    /// Whether the batch may need more than `held`, so that the row must be taken.
    var isShort: Bool { held < demand }
}
