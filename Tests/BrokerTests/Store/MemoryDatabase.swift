import Synchronization

@testable import Broker

/// The database's part of the store as a plain model: the rules of `broker.record_batch`, in memory.
///
/// The twin for route tests and the oracle for properties; the same protocol suite runs against it and Postgres.
final class MemoryDatabase: Sendable {
    fileprivate struct Shared: Hashable {
        let scope: SharedLimit.Scope
        let subject: String
        let policy: String
    }

    private struct Install: Hashable {
        let clientId: String
        let dpopJkt: String
        let policy: String
    }

    private struct State {
        var revision: Int64 = 0
        var shared: [Shared: Int64] = [:]
        var installs: [Install: Int64] = [:]
        var proofs: Set<[UInt8]> = []
        var jtis: Set<String> = []
        var uses: Set<[UInt8]> = []
        var fault: StoreFault?
    }

    private let state = Mutex(State())
    private let clock: @Sendable () -> Int64

    /// - Parameter clock: Microseconds since 1970 UTC, as the database sees it.
    init(clock: @escaping @Sendable () -> Int64 = wallClockMicroseconds) {
        self.clock = clock
    }

    var jtis: Set<String> { state.withLock(\.jtis) }

    func setRevision(_ revision: Int64) {
        state.withLock { $0.revision = revision }
    }

    /// Every batch meets this fault until it is `nil` again.
    func setFault(_ fault: StoreFault?) {
        state.withLock { $0.fault = fault }
    }

    var fault: StoreFault? { state.withLock(\.fault) }

    /// One use, by the rules of `consume_batch.sql`.
    ///
    /// - Parameter brokerNow: The broker's clock, in microseconds.
    func consume(_ record: ConsumeRecord, brokerNow: Int64) -> ConsumeVerdict {
        state.withLock { state in
            let now = clock()
            let seconds = now / 1_000_000
            guard record.revision == state.revision else { return .stale }
            guard abs(now - brokerNow) <= 30_000_000,
                (seconds - 30...seconds + 390).contains(record.expiresAt)
            else { return .unavailable(.clockSkew) }
            return state.uses.insert(record.hash).inserted ? .consumed : .alreadyUsed
        }
    }

    /// - Parameter brokerNow: The broker's clock, in microseconds.
    /// - Returns: `nil` when a jti of the batch was there before: nothing of it is committed.
    func decide(_ batch: MintBatch, brokerNow: Int64) -> BatchAnswer? {
        state.withLock { state in
            guard state.jtis.isDisjoint(with: batch.records.map(\.jti)) else { return nil }
            return Self.decide(batch, brokerNow: brokerNow, now: clock(), &state)
        }
    }

    /// What the shadows say to a mint that was recorded, by the rules of `broker.record_shadowed_batch`, without leases.
    func shadows(of record: MintRecord) -> [ShadowRefusal] {
        state.withLock { state in
            let now = clock()
            var refusals: [ShadowRefusal] = []
            func ask(_ policy: RatePolicy, _ limit: RateLimit, _ tat: Int64?) -> Int64 {
                let (granted, after) = limit.spend(1, tat: tat, now: now)
                if granted == 0 {
                    refusals.append(
                        .init(policy: policy, waitMicroseconds: limit.wait(tat: after, now: now)))
                }
                return after
            }
            if let policy = record.shadows.install {
                let key = Install(
                    clientId: record.clientId, dpopJkt: record.dpopJkt, policy: policy.state)
                state.installs[key] = ask(policy, RateLimit(policy), state.installs[key])
            }
            for (scope, subject, policy) in [
                (SharedLimit.Scope.client, record.clientId, record.shadows.client),
                (.tenant, record.tenantId, record.shadows.tenant),
            ] {
                guard let policy else { continue }
                let key = Shared(scope: scope, subject: subject, policy: policy.state)
                state.shared[key] = ask(
                    policy, RateLimit(databaseSideOf: policy), state.shared[key])
            }
            return refusals
        }
    }

    private static func decide(
        _ batch: MintBatch, brokerNow: Int64, now: Int64, _ state: inout State
    ) -> BatchAnswer {
        let permits = batch.quotas.map { quota -> Int64 in
            guard quota.isShort else { return 0 }
            return quota.databaseLimit.permits(tat: state.shared[quota.row], now: now)
        }
        var ranks = [Int64](repeating: 0, count: batch.quotas.count)
        func passes(_ place: Int32) -> Bool {
            guard place > 0 else { return true }
            let index = Int(place) - 1
            ranks[index] += 1
            return ranks[index] <= batch.quotas[index].held + permits[index]
        }
        var codes = batch.records.map { record -> BatchAnswer.Code? in
            if record.revision != state.revision { return .stale }
            let seconds = now / 1_000_000
            let isTimely =
                abs(now - brokerNow) <= 30_000_000
                && (seconds - 30...seconds + 340).contains(record.expiresAt)
                && record.proof.map { (seconds - 330...seconds + 100).contains($0.issuedAt) }
                    ?? true
            return isTimely ? nil : .clockSkew
        }
        for index in codes.indices where codes[index] == nil {
            if !passes(batch.clientLimits[index]) { codes[index] = .clientLimited }
        }
        for index in codes.indices where codes[index] == nil {
            if !passes(batch.tenantLimits[index]) { codes[index] = .tenantLimited }
        }
        for index in codes.indices where codes[index] == nil {
            guard let proof = batch.records[index].proof else { continue }
            if !state.proofs.insert(proof.hash).inserted { codes[index] = .proofReplayed }
        }
        var spent = [Int64](repeating: 0, count: batch.quotas.count + 1)
        var waits = [Int64](repeating: 0, count: codes.count)
        var left = waits
        for index in codes.indices where codes[index] == nil {
            let record = batch.records[index]
            let key = Install(
                clientId: record.clientId, dpopJkt: record.dpopJkt, policy: record.install.state)
            let limit = RateLimit(record.install)
            let (granted, tat) = limit.spend(1, tat: state.installs[key], now: now)
            state.installs[key] = tat
            if granted == 0 {
                codes[index] = .installLimited
                waits[index] = limit.wait(tat: tat, now: now)
            } else {
                codes[index] = .recorded
                state.jtis.insert(record.jti)
                left[index] = limit.permits(tat: tat, now: now)
                waits[index] = tat - now
            }
            if codes[index] == .recorded {
                spent[Int(batch.clientLimits[index])] += 1
                if batch.tenantLimits[index] > 0 { spent[Int(batch.tenantLimits[index])] += 1 }
            }
        }
        spent.removeFirst()
        var leases: [BatchAnswer.Lease?] = []
        var sharedWaits: [Int64] = []
        for (index, quota) in batch.quotas.enumerated() {
            let taken = max(0, spent[index] - quota.held)
            let leased = min(quota.wish, permits[index] - taken)
            let before = state.shared[quota.row]
            let after = quota.databaseLimit.spend(taken + leased, tat: before, now: now).tat
            if taken + leased > 0 { state.shared[quota.row] = after }
            leases.append(.init(held: quota.held - (spent[index] - taken) + leased, leased: leased))
            sharedWaits.append(quota.databaseLimit.wait(tat: after, now: now))
        }
        let decisions = codes.indices.map { index -> BatchAnswer.Decision in
            var code = codes[index] ?? .stale
            let place =
                code == .clientLimited
                ? batch.clientLimits[index] : code == .tenantLimited ? batch.tenantLimits[index] : 0
            if place > 0 {
                let shared = Int(place) - 1
                waits[index] = sharedWaits[shared]
                if spent[shared] < batch.quotas[shared].held + permits[shared] {
                    code = .decideAgain
                }
            }
            return .init(code: code, remaining: left[index], microseconds: waits[index])
        }
        return BatchAnswer(decisions: decisions, leases: leases)
    }
}

extension SharedQuota {
    fileprivate var databaseLimit: RateLimit {
        RateLimit(
            RatePolicy(
                name: limit.policy.name, burst: databaseBurst,
                stepMicroseconds: limit.policy.stepMicroseconds))
    }

    fileprivate var row: MemoryDatabase.Shared {
        .init(scope: limit.scope, subject: limit.subject, policy: limit.policy.state)
    }
}
