import Synchronization
import TestKit
import Testing

@testable import Broker

/// A shared limit that is changed while lanes hold permits of it on lease.
@Suite struct ChangingLimitTests {
    /// Lanes learn of a change only by a stale batch, as replicas do.
    @Test(arguments: 0..<60)
    func `nothing passes under a limit that was changed, and each keeps its own bound`(seed: Int)
        throws
    {
        var random = SeededRandom(seed: UInt64(seed))
        // An override has a state of its own; another declared limit goes on with the one there is.
        let hasOwnState = seed % 2 == 0
        func newPolicy(_ number: Int) -> RatePolicy {
            RatePolicy(
                name: "client", burst: Int.random(in: 1...400, using: &random),
                stepMicroseconds: Int64.random(in: 50...3000, using: &random),
                state: hasOwnState ? "client@\(number)" : nil)
        }
        let clock = ModelClock()
        let database = MemoryDatabase { 1_800_000_000_000_000 + clock.now }
        var policies = [newPolicy(0)]
        var lanes = (0..<Int.random(in: 2...6, using: &random)).map { _ in
            ModelLane(clockOffset: Int64.random(in: -5_000_000...5_000_000, using: &random))
        }
        var known = lanes.map { _ in 0 }
        var passed: [[(time: Int64, count: Int64)]] = [[]]
        for _ in 0..<500 {
            clock.now += Int64.random(in: 0...10_000, using: &random)
            if Int.random(in: 0..<60, using: &random) == 0 {
                policies.append(newPolicy(policies.count))
                passed.append([])
                database.setRevision(Int64(policies.count - 1))
            }
            let index = Int.random(in: 0..<lanes.count, using: &random)
            guard let batch = lanes[index].inFlight else {
                lanes[index].send(
                    count: Int.random(in: 1...40, using: &random), policies[known[index]],
                    now: clock.now, revision: Int64(known[index]))
                continue
            }
            let answer = try #require(
                database.decide(batch, brokerNow: 1_800_000_000_000_000 + clock.now))
            let counted = lanes[index].answered(
                batch, answer, isLost: Int.random(in: 0..<20, using: &random) == 0)
            if known[index] != policies.count - 1 {
                #expect(counted.fromLease + counted.fromDatabase == 0)
            }
            passed[known[index]].append((lanes[index].sentAt, counted.fromLease))
            passed[known[index]].append((clock.now, counted.fromDatabase))
            if answer.decisions.contains(where: { $0.code == .stale }) {
                known[index] = policies.count - 1
            }
        }
        #expect(passed.count { $0.contains { $0.count > 0 } } > 1)
        for (policy, moments) in zip(policies, passed) {
            expectNoOverrun(moments.sorted { $0.time < $1.time }, policy)
        }
    }

    @Test func `lanes that hold leases let nothing through under the limit before an override`()
        async throws
    {
        let url = try await PostgresCluster.shared().freshDatabase()
        try await PostgresCluster.query(
            """
            INSERT INTO broker.tenant (tenant_id) VALUES ('acme');
            INSERT INTO broker.client (client_id, tenant_id, settings) VALUES ('app', 'acme', '{}')
            """, at: url)
        let lanes = (0..<2).map { _ in TestLane(postgres: url) { $0.waitingLimit = 20_000 } }
        let declared = RatePolicy(name: "client", burst: 100_000, stepMicroseconds: 10)
        #expect(LeasePlan(declared).largestLease > 100)
        for lane in lanes {
            for _ in 0..<3 {
                let verdicts = await lane.record((0..<40).map { _ in .valid(client: declared) })
                #expect(verdicts.allSatisfy { $0.isRecorded })
            }
        }
        let limits = LimitRepository(connection: ControlConnection(conninfo: url))
        _ = try await limits.override(
            .client(try Sample.clientId("app")), LimitSettings(burst: 5, rate: 1, per: 86_400),
            seconds: 3600, reason: "")
        for lane in lanes {
            let verdicts = await lane.record((0..<40).map { _ in .valid(client: declared) })
            #expect(verdicts.allSatisfy { $0 == .stale })
        }
        let policy = LimitOverride.Declared(
            id: 1, subject: .client(try Sample.clientId("app")),
            limit: LimitSettings(burst: 5, rate: 1, per: 86_400)
        ).policy
        var recorded = 0
        for lane in lanes {
            let verdicts = await lane.record(
                (0..<40).map { _ in .valid(client: policy, revision: 1) })
            recorded += verdicts.count { $0.isRecorded }
            #expect(verdicts.allSatisfy { $0.isRecorded || $0.isLimited(by: policy) })
        }
        #expect(recorded == 5)
    }

    /// Two replicas, many callers, limits that come back fast. Each pass lies between its call and its answer, so what lies
    /// wholly within an interval passed in it: a slow machine makes the bound looser, never wrong.
    @Test(arguments: 0..<3)
    func `no interval of a real race sees more than the burst and what came back in it`(seed: Int)
        async throws
    {
        var random = SeededRandom(seed: UInt64(seed))
        let url = try await PostgresCluster.shared().freshDatabase()
        let lanes = (0..<2).map { _ in TestLane(postgres: url) { $0.waitingLimit = 20_000 } }
        let policies: [LimitScope: RatePolicy] = [
            .install: RatePolicy(
                name: "install", burst: Int.random(in: 2...8, using: &random),
                stepMicroseconds: 40_000),
            .client: RatePolicy(
                name: "client", burst: Int.random(in: 70...120, using: &random),
                stepMicroseconds: 2000),
            .tenant: RatePolicy(
                name: "tenant", burst: Int.random(in: 70...160, using: &random),
                stepMicroseconds: 1500),
        ]
        #expect(LeasePlan(policies[.client] ?? .ample).largestLease > 0, "leases take part")
        let installs = (0..<12).map { _ in MintRecord.randomJkt() }
        let passes = try await atOnce(24) { caller in
            var random = SeededRandom(seed: UInt64(seed * 1000 + caller))
            var passes: [Pass] = []
            for _ in 0..<12 {
                let client = Int.random(in: 0..<2, using: &random)
                let numbers = (0..<16).map { _ in Int.random(in: 0..<installs.count, using: &random)
                }
                let from = MonotonicTime.now()
                let verdicts = await lanes[caller % 2].record(
                    numbers.map { number in
                        .valid(
                            clientId: "app\(client)", dpopJkt: installs[number],
                            install: policies[.install] ?? .ample, client: policies[.client],
                            tenant: policies[.tenant])
                    })
                let to = MonotonicTime.now()
                for (number, verdict) in zip(numbers, verdicts) where verdict.isRecorded {
                    passes.append(
                        Pass(
                            from: from, to: to,
                            keys: ["install \(client) \(number)", "client \(client)", "tenant"]))
                }
            }
            return passes
        }.flatMap(\.self)
        #expect(passes.count > 100)
        #expect(passes.count < 24 * 12 * 16, "the limits refused some")
        for key in Set(passes.flatMap(\.keys)) {
            let scope = LimitScope(rawValue: String(key.prefix { $0 != " " }))
            guard let policy = scope.flatMap({ policies[$0] }) else { continue }
            expectNoOverrunOfRace(passes.filter { $0.keys.contains(key) }, policy)
        }
    }

    private struct Pass: Sendable {
        let from: MonotonicTime
        let to: MonotonicTime
        let keys: [String]
    }

    private func expectNoOverrunOfRace(_ passes: [Pass], _ policy: RatePolicy) {
        let byEnd = passes.sorted { $0.to < $1.to }
        for start in passes.map(\.from) {
            for (index, end) in byEnd.filter({ $0.from >= start }).enumerated() {
                // The database's clock may be slewed meanwhile, by 500 in a million at most.
                let microseconds = Int64((end.to.nanoseconds - start.nanoseconds) / 999)
                if index + 1 > policy.burst + Int(microseconds / policy.stepMicroseconds) {
                    Issue.record("\(index + 1) passed in \(microseconds) µs under \(policy)")
                    return
                }
            }
        }
    }
}
