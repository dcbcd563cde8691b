import SocketServer
import Synchronization

/// The limit on failed authentications by address: in the memory of this process, within a fixed bound (docs/adr/0007).
///
/// Only failures spend it, and it never refuses a credential that is good: an address may be shared by an attacker and a
/// thousand others. It turns the 401 of one failure too many into a 429, and tells when a proof of a stranger's is not
/// worth its price.
final class FailedAuthentications: Sendable {
    /// Addresses in two generations: when the young one is full it becomes the old one, and what only the old one held is
    /// forgotten. An address that goes on failing moves along.
    private struct Arrivals {
        var young: [RemoteAddress: Int64] = [:]
        var old: [RemoteAddress: Int64] = [:]

        func tat(_ network: RemoteAddress) -> Int64? { young[network] ?? old[network] }
    }

    let policy: RatePolicy
    private let limit: RateLimit
    private let generationSize: Int
    /// Microseconds on a clock that is never set back.
    private let now: @Sendable () -> Int64
    private let arrivals = Mutex(Arrivals())

    /// - Parameters:
    ///   - capacity: addresses kept at most, in all. The default takes some 5 MB.
    ///   - now: microseconds on a steady clock.
    init(
        _ settings: LimitSettings = .defaultFailedAuthentications, capacity: Int = 98_304,
        now: @escaping @Sendable () -> Int64 = {
            Int64(clamping: MonotonicTime.now().nanoseconds / 1000)
        }
    ) {
        policy = settings.policy(named: "failed_authentication")
        limit = RateLimit(policy)
        generationSize = max(1, capacity / 2)
        self.now = now
    }

    /// Microseconds until this address may fail again; 0 when it may now. Spends nothing.
    func wait(for address: RemoteAddress) -> Int64 {
        let tat = arrivals.withLock { $0.tat(address.network) }
        return limit.wait(tat: tat, now: now())
    }

    /// What to answer to a request that ends in `error`: the same, or that there were too many failures.
    ///
    /// To be called once a refused request; it counts the error when that is a failed authentication.
    ///
    /// - Parameter wasCheckedInVain: whether a proof was, which counts as well.
    func judge(
        _ error: BrokerError, from address: RemoteAddress, wasCheckedInVain: Bool = false
    ) -> BrokerError {
        guard error.isFailedAuthentication || wasCheckedInVain else { return error }
        let wait = spend(address.network)
        guard wait > 0 else { return error }
        return .tooManyFailures(policy, waitMicroseconds: wait, cause: error.cause)
    }

    /// Takes one permit and gives 0, or gives how long there is none.
    private func spend(_ network: RemoteAddress) -> Int64 {
        let now = now()
        return arrivals.withLock { arrivals in
            let tat = arrivals.tat(network)
            let spent = limit.spend(1, tat: tat, now: now)
            // Also when nothing was granted: who goes on failing is not forgotten.
            if arrivals.young.count >= generationSize, arrivals.young[network] == nil {
                arrivals.old = arrivals.young
                arrivals.young = [:]
            }
            arrivals.young[network] = spent.tat
            return spent.granted == 1 ? 0 : limit.wait(tat: tat, now: now)
        }
    }

    /// Addresses remembered at present.
    var count: Int {
        arrivals.withLock { arrivals in
            arrivals.young.count + arrivals.old.keys.count { arrivals.young[$0] == nil }
        }
    }
}
