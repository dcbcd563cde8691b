import Dispatch
import TestKit
import Testing

@testable import Broker

/// What every store promises, run against Postgres and its twin in memory.
@Suite struct AssertionStoreTests {
    enum Kind: String, CaseIterable, Sendable {
        case memory, postgres
    }

    /// One database with as many lanes as asked for.
    private func lanes(_ kind: Kind, _ count: Int = 1) async throws -> [TestLane] {
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

    /// The verdicts on records spread over lanes, each call on its own.
    private func race(_ records: [MintRecord], over lanes: [TestLane]) async -> [MintVerdict] {
        await withTaskGroup(of: MintVerdict.self) { group in
            for (index, record) in records.enumerated() {
                group.addTask { await lanes[index % lanes.count].record(record) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test(arguments: Kind.allCases)
    func `R-101-22 commits a mint and tells what is left of the limit`(_ kind: Kind) async throws {
        let lane = try await lanes(kind)[0]
        let policy = RatePolicy(name: "install", burst: 5, stepMicroseconds: 60_000_000)
        let record = MintRecord.valid(install: policy)
        #expect(
            await lane.record(record) == .recorded(remaining: 4, resetAfterMicroseconds: 60_000_000)
        )
    }

    @Test(arguments: Kind.allCases)
    func `32 racing calls with one jti have one winner at most`(_ kind: Kind) async throws {
        let lanes = try await lanes(kind, 2)
        let jti = MintRecord.randomText(24)
        let expiresAt = wallClockMicroseconds() / 1_000_000 + 60
        let records = (0..<32).map { _ in MintRecord.valid(jti: jti, expiresAt: expiresAt) }
        let verdicts = await race(records, over: lanes)
        // Two in one batch take it along: with such a generator nothing is safe to issue.
        let winners = verdicts.count(where: \.isRecorded)
        #expect(winners <= 1)
        #expect(verdicts.count { $0 == .unavailable(.jtiTaken) } == 32 - winners)
        #expect(await !lanes[0].record(records[0]).isRecorded || winners == 0)
    }

    @Test(arguments: Kind.allCases)
    func `32 racing calls with one proof have one winner`(_ kind: Kind) async throws {
        let lanes = try await lanes(kind, 2)
        let proof = ProofUse.fresh()
        let verdicts = await race((0..<32).map { _ in .valid(proof: proof) }, over: lanes)
        #expect(verdicts.count(where: \.isRecorded) == 1)
        #expect(verdicts.count { $0 == .proofReplayed } == 31)
    }

    @Test(arguments: Kind.allCases)
    func `a proof is used once within one batch too`(_ kind: Kind) async throws {
        let lane = try await lanes(kind)[0]
        let proof = ProofUse.fresh()
        let verdicts = await lane.record([
            .valid(proof: proof), .valid(), .valid(proof: proof), .valid(proof: .fresh()),
        ])
        #expect(verdicts.map(\.isRecorded) == [true, true, false, true])
        #expect(verdicts[2] == .proofReplayed)
    }

    @Test(arguments: Kind.allCases)
    func `a proof's jti signed again with another iat is a replay`(_ kind: Kind) async throws {
        let lane = try await lanes(kind)[0]
        let now = wallClockMicroseconds() / 1_000_000
        let proof = ProofUse.fresh(issuedAt: now - 60)
        #expect(await lane.record(.valid(proof: proof)).isRecorded)
        for shift: Int64 in [-119, -1, 0, 1, 119] {
            let again = ProofUse(hash: proof.hash, issuedAt: proof.issuedAt + shift)
            #expect(await lane.record(.valid(proof: again)) == .proofReplayed)
        }
    }

    @Test(arguments: Kind.allCases)
    func `R-101-25 a replayed proof spends no limit`(_ kind: Kind) async throws {
        let lane = try await lanes(kind)[0]
        let jkt = MintRecord.randomJkt()
        let proof = ProofUse.fresh()
        #expect(await lane.record(.valid(proof: proof)).isRecorded)
        for _ in 0..<5 {
            let replay = MintRecord.valid(
                dpopJkt: jkt, proof: proof, install: .only(2), client: .only(3, name: "client"))
            #expect(await lane.record(replay) == .proofReplayed)
        }
        let fresh = MintRecord.valid(
            dpopJkt: jkt, install: .only(2), client: .only(3, name: "client"))
        guard case .recorded(remaining: 1, _, _) = await lane.record(fresh) else {
            Issue.record("something was spent")
            return
        }
    }

    @Test(arguments: Kind.allCases)
    func `R-101-25 10 of 200 parallel mints of one install pass over two stores`(
        _ kind: Kind
    ) async throws {
        let lanes = try await lanes(kind, 2)
        let jkt = MintRecord.randomJkt()
        let records = (0..<200).map { _ in MintRecord.valid(dpopJkt: jkt, install: .only(10)) }
        let verdicts = await race(records, over: lanes)
        #expect(verdicts.count(where: \.isRecorded) == 10)
        #expect(verdicts.count { $0.isLimited(by: .only(10)) } == 190)
    }

    @Test(arguments: Kind.allCases, [true, false])
    func `R-101-25 10 of 200 parallel mints of one client or tenant pass over two stores`(
        _ kind: Kind, ofClient: Bool
    ) async throws {
        let lanes = try await lanes(kind, 2)
        let policy = RatePolicy.only(10, name: "shared")
        let records = (0..<200).map { _ in
            MintRecord.valid(client: ofClient ? policy : nil, tenant: ofClient ? nil : policy)
        }
        let verdicts = await race(records, over: lanes)
        #expect(verdicts.count(where: \.isRecorded) == 10)
        #expect(verdicts.count { $0.isLimited(by: policy) } == 190)
    }

    @Test(arguments: Kind.allCases)
    func `one permit left of ten lets exactly one pass`(_ kind: Kind) async throws {
        let lanes = try await lanes(kind, 2)
        let jkt = MintRecord.randomJkt()
        let install = RatePolicy.only(10)
        for _ in 0..<9 {
            #expect(await lanes[0].record(.valid(dpopJkt: jkt, install: install)).isRecorded)
        }
        let records = (0..<50).map { _ in MintRecord.valid(dpopJkt: jkt, install: install) }
        let verdicts = await race(records, over: lanes)
        #expect(verdicts.count(where: \.isRecorded) == 1)
    }

    @Test(arguments: Kind.allCases)
    func `requests of one install in one batch are decided in order of arrival`(
        _ kind: Kind
    ) async throws {
        let lane = try await lanes(kind)[0]
        let jkt = MintRecord.randomJkt()
        let verdicts = await lane.record(
            (0..<6).map { _ in .valid(dpopJkt: jkt, install: .only(4)) })
        #expect(verdicts.map(\.isRecorded) == [true, true, true, true, false, false])
        let remaining = verdicts.compactMap { verdict -> Int? in
            if case .recorded(let remaining, _, _) = verdict { remaining } else { nil }
        }
        #expect(remaining == [3, 2, 1, 0])
    }

    @Test(arguments: Kind.allCases)
    func `R-101-25 a refused request spends from no limit`(_ kind: Kind) async throws {
        let lane = try await lanes(kind)[0]
        let exhausted = MintRecord.randomJkt()
        let client = RatePolicy.only(3, name: "client")
        let tenant = RatePolicy.only(4, name: "tenant")
        func record(_ jkt: String) -> MintRecord {
            .valid(dpopJkt: jkt, install: .only(1), client: client, tenant: tenant)
        }
        #expect(await lane.record(record(exhausted)).isRecorded)
        // All in one batch with one that has a permit: the flood must not take its place.
        let flood = (0..<20).map { _ in record(exhausted) }
        let verdicts = await lane.record(flood + [record(MintRecord.randomJkt())])
        #expect(verdicts.dropLast().allSatisfy { $0.isLimited(by: .only(1)) })
        #expect(verdicts[20].isRecorded)
        #expect(await lane.record(record(MintRecord.randomJkt())).isRecorded)
        // Now the client's three are used, one of the tenant's is left.
        #expect(await lane.record(record(MintRecord.randomJkt())).isLimited(by: client))
        let other = MintRecord.valid(clientId: "other", install: .only(1), tenant: tenant)
        #expect(await lane.record(other).isRecorded)
        let last = MintRecord.valid(clientId: "other", install: .only(1), tenant: tenant)
        #expect(await lane.record(last).isLimited(by: tenant))
    }

    @Test(arguments: Kind.allCases)
    func `installs, clients and tenants do not share what is theirs`(_ kind: Kind) async throws {
        let lane = try await lanes(kind)[0]
        let jkt = MintRecord.randomJkt()
        let one = RatePolicy.only(1)
        #expect(await lane.record(.valid(dpopJkt: jkt, install: one)).isRecorded)
        #expect(await lane.record(.valid(clientId: "b", dpopJkt: jkt, install: one)).isRecorded)
        let otherName = RatePolicy.only(1, name: "other")
        #expect(await lane.record(.valid(dpopJkt: jkt, install: otherName)).isRecorded)
        #expect(await lane.record(.valid(dpopJkt: jkt, install: one)).isLimited)
        #expect(await lane.record(.valid(clientId: "x", client: one)).isRecorded)
        #expect(await lane.record(.valid(clientId: "y", client: one)).isRecorded)
        #expect(await lane.record(.valid(tenantId: "x", tenant: one)).isRecorded)
        #expect(await lane.record(.valid(tenantId: "x", tenant: one)).isLimited)
    }

    @Test(arguments: Kind.allCases)
    func `a record decided on another revision is stale, and spends nothing`(
        _ kind: Kind
    ) async throws {
        let lane = try await lanes(kind)[0]
        let jkt = MintRecord.randomJkt()
        let verdicts = await lane.record([
            .valid(dpopJkt: jkt, install: .only(1), revision: 1),
            .valid(dpopJkt: jkt, install: .only(1), revision: 0),
            .valid(dpopJkt: jkt, install: .only(1), revision: -1),
        ])
        #expect(verdicts[0] == .stale)
        #expect(verdicts[1].isRecorded)
        #expect(verdicts[2] == .stale)
    }

    @Test(arguments: Kind.allCases)
    func `times the ring cannot keep are refused`(_ kind: Kind) async throws {
        let lane = try await lanes(kind)[0]
        let now = wallClockMicroseconds() / 1_000_000
        for expiresAt in [now - 60, now + 400, now + 100_000] {
            #expect(
                await lane.record(.valid(expiresAt: expiresAt)) == .unavailable(.clockSkew))
        }
        for issuedAt in [now - 400, now + 200] {
            let record = MintRecord.valid(proof: .fresh(issuedAt: issuedAt))
            #expect(await lane.record(record) == .unavailable(.clockSkew))
        }
    }

    @Test(arguments: Kind.allCases)
    func `a malformed record is refused alone and leaves its batch alone`(
        _ kind: Kind
    ) async throws {
        let lane = try await lanes(kind)[0]
        let proof = ProofUse(hash: [1, 2, 3], issuedAt: wallClockMicroseconds() / 1_000_000)
        let malformed: [MintRecord] = [
            .valid(clientId: ""), .valid(clientId: String(repeating: "x", count: 257)),
            .valid(clientId: "nul\0"), .valid(clientId: "caf\u{E9}"),
            .valid(tenantId: "cafe\u{301}"), .valid(dpopJkt: "short"),
            .valid(dpopJkt: String(repeating: "+", count: 43)), .valid(jti: "short"),
            .valid(proof: proof), .valid(install: .only(0)), .valid(install: .only(1, name: "")),
            .valid(client: .only(RatePolicy.maximumBurst + 1)),
            .valid(tenant: RatePolicy(name: "t", burst: 1, stepMicroseconds: 0)),
        ]
        let verdicts = await lane.record(malformed + [.valid()])
        #expect(verdicts.dropLast().allSatisfy { $0 == .unavailable(.malformedRecord) })
        #expect(verdicts.last?.isRecorded == true)
    }
}
