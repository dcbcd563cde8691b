/// The limits of mints as the store decides them, for one request at a time. Pure: the twin of the batch statement
/// without leases.
///
/// All limits are decided together. A refused request spends none of them, and is told the longest of the waits. It
/// decides a shared limit by the burst that the database hands out (`LeasePlan.databaseBurst`), as if the lanes leased
/// nothing.
struct LimitModel<Install: Hashable & Sendable>: Sendable {
    /// Whose limit, under which policy.
    struct Request: Sendable {
        let install: Install
        let installPolicy: RatePolicy
        /// Of the client that `install` belongs to, by any number.
        let client: Int
        let clientPolicy: RatePolicy?
        let tenant: Int
        let tenantPolicy: RatePolicy?
    }

    enum Decision: Sendable, Equatable {
        case passed
        /// The limit with the longest wait, and that wait.
        case refused(by: LimitScope, waitMicroseconds: Int64)
    }

    /// When each bucket is full again, microseconds since 1970; one that is not here is full.
    private var installs: [Install: Int64]
    private var clients: [Int: Int64]
    private var tenants: [Int: Int64]
    private var sweepAt = 65_536

    /// - Parameters: when each bucket is full again, microseconds since 1970; all others are full.
    init(
        installs: [Install: Int64] = [:], clients: [Int: Int64] = [:], tenants: [Int: Int64] = [:]
    ) {
        self.installs = installs
        self.clients = clients
        self.tenants = tenants
    }

    /// How many installs have less than a full bucket, or had when it was last looked.
    var installCount: Int { installs.count }

    /// Decides a request at `now`, microseconds since 1970; `now` never runs back.
    mutating func decide(_ request: Request, now: Int64) -> Decision {
        forgetFull(now: now)
        let install = RateLimit(request.installPolicy)
        let client = request.clientPolicy.map(RateLimit.init(databaseSideOf:))
        let tenant = request.tenantPolicy.map(RateLimit.init(databaseSideOf:))
        // In the statement's order: of equal waits the wider limit is named.
        let waits: [(LimitScope, Int64)] = [
            (.tenant, tenant?.wait(tat: tenants[request.tenant], now: now) ?? 0),
            (.client, client?.wait(tat: clients[request.client], now: now) ?? 0),
            (.install, install.wait(tat: installs[request.install], now: now)),
        ]
        let longest = waits.reduce(0) { max($0, $1.1) }
        if longest > 0, let (scope, wait) = waits.first(where: { $0.1 == longest }) {
            return .refused(by: scope, waitMicroseconds: wait)
        }
        installs[request.install] =
            install.spend(1, tat: installs[request.install], now: now).tat
        if let client {
            clients[request.client] = client.spend(1, tat: clients[request.client], now: now).tat
        }
        if let tenant {
            tenants[request.tenant] = tenant.spend(1, tat: tenants[request.tenant], now: now).tat
        }
        return .passed
    }

    /// A missing entry is a full bucket, so full ones can go: what stays are the installs that a limit stands against.
    private mutating func forgetFull(now: Int64) {
        guard installs.count >= sweepAt else { return }
        installs = installs.filter { $0.value > now }
        sweepAt = max(65_536, 2 * installs.count)
    }
}

extension RateLimit {
    /// A shared limit as the database decides it.
    init(databaseSideOf policy: RatePolicy) {
        burst = Int64(LeasePlan(policy).databaseBurst)
        step = policy.stepMicroseconds
    }
}
