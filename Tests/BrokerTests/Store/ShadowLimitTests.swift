import TestKit
import Testing

@testable import Broker

/// What shadows promise, in Postgres and in its twin in memory.
@Suite struct ShadowLimitTests {
    private func lanes(_ kind: AssertionStoreTests.Kind, _ count: Int = 1) async throws
        -> [TestLane]
    {
        switch kind {
        case .memory:
            let database = MemoryDatabase()
            return (0..<count).map { _ in
                TestLane { MemoryAssertionStore(lane: $0, database: database) }
            }
        case .postgres:
            let url = try await PostgresCluster.shared().freshDatabase()
            return (0..<count).map { _ in TestLane(postgres: url) { $0.waitingLimit = 20_000 } }
        }
    }

    private static func shadow(_ burst: Int, _ scope: LimitScope) -> RatePolicy {
        LimitSettings(burst: Int64(burst), rate: 1, per: 3600).shadow(of: scope)
    }

    private func told(_ verdict: MintVerdict) -> [ShadowRefusal]? {
        if case .recorded(_, _, let shadows) = verdict { shadows } else { nil }
    }

    @Test(arguments: AssertionStoreTests.Kind.allCases)
    func `a shadow tells what it would have refused, with the wait, and refuses nothing`(
        _ kind: AssertionStoreTests.Kind
    ) async throws {
        let lane = try await lanes(kind)[0]
        let shadow = Self.shadow(2, .install)
        let jkt = MintRecord.randomJkt()
        let records = (0..<5).map { _ in
            MintRecord.valid(dpopJkt: jkt, install: .only(9), shadows: .init(install: shadow))
        }
        // Three in one batch, two more after it.
        var verdicts = await lane.record(Array(records[..<3]))
        for record in records[3...] { verdicts.append(await lane.record(record)) }
        #expect(verdicts.map { told($0)?.count } == [0, 0, 1, 1, 1])
        for refusal in verdicts.compactMap(told).flatMap(\.self) {
            #expect(refusal.policy == shadow)
            #expect(refusal.policy.name == "install")
            #expect((3_500_000_000...3_600_000_000).contains(refusal.waitMicroseconds))
        }
        guard case .recorded(remaining: 4, _, _) = verdicts[4] else {
            Issue.record("the enforced limit is not touched: \(verdicts[4])")
            return
        }
    }

    @Test(arguments: AssertionStoreTests.Kind.allCases, [LimitScope.client, .tenant])
    func
        `of 60 racing mints over two stores all pass, and a shared shadow tells of all but its own`(
            _ kind: AssertionStoreTests.Kind, scope: LimitScope
        ) async throws
    {
        let lanes = try await lanes(kind, 2)
        var shadows = ShadowLimits.none
        if scope == .client { shadows.client = Self.shadow(10, .client) }
        if scope == .tenant { shadows.tenant = Self.shadow(10, .tenant) }
        let verdicts = try await atOnce(60) { [shadows] number in
            await lanes[number % 2].record(.valid(shadows: shadows))
        }
        let told = verdicts.compactMap(told)
        #expect(told.count == 60)
        #expect(told.count { $0.isEmpty } == 10)
        #expect(told.flatMap(\.self).allSatisfy { $0.policy.name == scope.rawValue })
        #expect(told.allSatisfy { $0.count <= 1 })
    }

    @Test(arguments: AssertionStoreTests.Kind.allCases)
    func `several are decided each for itself`(_ kind: AssertionStoreTests.Kind) async throws {
        let lane = try await lanes(kind)[0]
        let jkt = MintRecord.randomJkt()
        let shadows = ShadowLimits(
            install: Self.shadow(1, .install), client: Self.shadow(2, .client),
            tenant: Self.shadow(3, .tenant))
        var names: [[String]] = []
        for _ in 0..<4 {
            let verdict = await lane.record(.valid(dpopJkt: jkt, shadows: shadows))
            names.append(told(verdict)?.map(\.policy.name) ?? ["refused"])
        }
        #expect(
            names == [[], ["install"], ["install", "client"], ["install", "client", "tenant"]])
    }

    @Test(arguments: AssertionStoreTests.Kind.allCases)
    func `what is not recorded spends nothing of a shadow`(_ kind: AssertionStoreTests.Kind)
        async throws
    {
        let lane = try await lanes(kind)[0]
        let jkt = MintRecord.randomJkt()
        let shadows = ShadowLimits(
            install: Self.shadow(2, .install), client: Self.shadow(2, .client))
        let proof = ProofUse.fresh()
        let first = MintRecord.valid(
            dpopJkt: jkt, proof: proof, install: .only(2), shadows: shadows)
        #expect(told(await lane.record(first)) == [])
        for _ in 0..<3 {
            let replay = MintRecord.valid(
                dpopJkt: jkt, proof: proof, install: .only(2), shadows: shadows)
            #expect(await lane.record(replay) == .proofReplayed)
            let stale = MintRecord.valid(dpopJkt: jkt, revision: 9, shadows: shadows)
            #expect(await lane.record(stale) == .stale)
            let refused = MintRecord.valid(client: .only(0, name: "client"), shadows: shadows)
            #expect(await lane.record(refused) == .unavailable(.malformedRecord))
        }
        let second = MintRecord.valid(dpopJkt: jkt, install: .only(2), shadows: shadows)
        #expect(told(await lane.record(second)) == [])
        for _ in 0..<3 {
            let limited = MintRecord.valid(dpopJkt: jkt, install: .only(2), shadows: shadows)
            #expect(await lane.record(limited).isLimited(by: .only(2)))
        }
        let other = MintRecord.valid(shadows: .init(client: shadows.client))
        #expect(told(await lane.record(other))?.count == 1, "two were spent, and no more")
    }

    @Test(arguments: AssertionStoreTests.Kind.allCases)
    func `another candidate begins with a full bucket`(_ kind: AssertionStoreTests.Kind)
        async throws
    {
        let lane = try await lanes(kind)[0]
        let jkt = MintRecord.randomJkt()
        for burst in [1, 2, 3] {
            let shadows = ShadowLimits(install: Self.shadow(burst, .install))
            #expect(told(await lane.record(.valid(dpopJkt: jkt, shadows: shadows))) == [])
        }
    }

    @Test func `mints with and without shadows share the limits that hold`() async throws {
        let lanes = try await lanes(.postgres, 2)
        let (install, client) = (RatePolicy.only(6), RatePolicy.only(9, name: "client"))
        let jkt = MintRecord.randomJkt()
        let shadows = ShadowLimits(install: Self.shadow(100, .install))
        let verdicts = try await atOnce(60) { number in
            await lanes[number % 2].record(
                .valid(
                    dpopJkt: number < 30 ? jkt : MintRecord.randomJkt(), install: install,
                    client: client, shadows: number % 3 == 0 ? shadows : .none))
        }
        #expect(verdicts.count { $0.isRecorded } == 9)
        #expect(verdicts.allSatisfy { $0.isRecorded || $0.isLimited })
    }

    @Test
    func `a fast shared shadow is leased, and never lets more count as let in than its bound`()
        async throws
    {
        let lanes = try await lanes(.postgres, 2)
        let shadow = LimitSettings(burst: 100, rate: 500, per: 1).shadow(of: .client)
        #expect(LeasePlan(shadow).largestLease > 0)
        let began = MonotonicTime.now()
        let verdicts = try await atOnce(40) { number in
            await lanes[number % 2].record(
                (0..<60).map { _ in .valid(shadows: .init(client: shadow)) })
        }.flatMap(\.self)
        let told = verdicts.compactMap(told)
        let microseconds = Int64((MonotonicTime.now().nanoseconds - began.nanoseconds) / 999)
        #expect(told.count == 2400)
        let letIn = told.count { $0.isEmpty }
        #expect(letIn <= shadow.burst + Int(microseconds / shadow.stepMicroseconds))
        #expect(letIn >= LeasePlan(shadow).databaseBurst)
        #expect(letIn < 2400)
    }
}
