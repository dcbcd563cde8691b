/// The arithmetic of GCRA over one timestamp a key. Pure; the database has the same in
/// `broker.permits` and `broker.permit_wait`, and one table of cases runs through both.
///
/// `tat`, the theoretical arrival time, is when the bucket is full again: each permit moves it one
/// step on, and at most `burst` steps fit between now and it. All times are microseconds since 1970.
struct RateLimit: Sendable, Equatable {
    let burst: Int64
    let step: Int64

    init(_ policy: RatePolicy) {
        burst = Int64(policy.burst)
        step = policy.stepMicroseconds
    }

    /// The permits to be had at `now`. `tat` is `nil` for a key never seen: a full bucket.
    func permits(tat: Int64?, now: Int64) -> Int64 {
        max(0, (burst * step - ahead(tat, now)) / step)
    }

    /// How long until one permit is to be had; 0 when there is one already.
    func wait(tat: Int64?, now: Int64) -> Int64 {
        max(0, ahead(tat, now) - (burst - 1) * step)
    }

    /// Takes up to `wanted` permits; what is not granted is not spent.
    func spend(_ wanted: Int64, tat: Int64?, now: Int64) -> (granted: Int64, tat: Int64) {
        let granted = min(max(0, wanted), permits(tat: tat, now: now))
        return (granted, now + ahead(tat, now) + granted * step)
    }

    private func ahead(_ tat: Int64?, _ now: Int64) -> Int64 {
        max(0, (tat ?? now) - now)
    }
}
