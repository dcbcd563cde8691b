import Synchronization

/// The signature checks that an API token may cost in vain: in the memory of this process, a bucket a token
/// (docs/adr/0010).
///
/// A good token is no licence to burn CPU, and what its holder passes on comes from strangers. So only checks that ended in a
/// refusal are counted, and there are many of them: the limit is about a tenth of a core.
final class VainChecks: Sendable {
    static let defaultPolicy = RatePolicy(
        name: "refused_assertions", burst: 1000, stepMicroseconds: 1000)

    let policy: RatePolicy
    private let limit: RateLimit
    /// Microseconds on a clock that is never set back.
    private let now: @Sendable () -> Int64
    private let arrivals = Mutex<[String: Int64]>([:])

    /// Beyond so many tokens, those whose bucket is full again are forgotten.
    private static let tidyCount = 1024

    init(
        policy: RatePolicy = defaultPolicy,
        now: @escaping @Sendable () -> Int64 = {
            Int64(clamping: MonotonicTime.now().nanoseconds / 1000)
        }
    ) {
        self.policy = policy
        limit = RateLimit(policy)
        self.now = now
    }

    /// Microseconds until another check for this token is worth its price; 0 when one is now.
    func wait(for tokenId: String) -> Int64 {
        let tat = arrivals.withLock { $0[tokenId] }
        return limit.wait(tat: tat, now: now())
    }

    /// A check for this token was in vain.
    func count(_ tokenId: String) {
        let now = now()
        arrivals.withLock { arrivals in
            if arrivals.count >= Self.tidyCount { arrivals = arrivals.filter { $0.value > now } }
            arrivals[tokenId] = limit.spend(1, tat: arrivals[tokenId], now: now).tat
        }
    }

    /// Tokens remembered at present.
    var count: Int { arrivals.withLock(\.count) }
}
