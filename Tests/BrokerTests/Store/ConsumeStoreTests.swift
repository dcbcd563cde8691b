import TestKit
import Testing

@testable import Broker

/// What every store promises about uses, run against Postgres and its twin in memory.
@Suite struct ConsumeStoreTests {
    typealias Kind = AssertionStoreTests.Kind

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

    @Test(arguments: Kind.allCases)
    func `a use counts once, and ever after it was used`(_ kind: Kind) async throws {
        let lane = try await lanes(kind)[0]
        let use = ConsumeRecord.valid()
        #expect(await lane.consume(use) == .consumed)
        for _ in 0..<3 { #expect(await lane.consume(use) == .alreadyUsed) }
        #expect(await lane.consume(.valid()) == .consumed)
    }

    @Test(arguments: Kind.allCases, 0..<4)
    func `32 racing uses over two stores have one winner`(_ kind: Kind, round: Int) async throws {
        let lanes = try await lanes(kind, 2)
        let use = ConsumeRecord.valid()
        let verdicts = await withTaskGroup(of: ConsumeVerdict.self) { group in
            for number in 0..<32 {
                group.addTask { await lanes[number % 2].consume(use) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(verdicts.count { $0 == .consumed } == 1)
        #expect(verdicts.count { $0 == .alreadyUsed } == 31)
    }

    @Test(arguments: Kind.allCases)
    func `the first of a batch wins, whatever stands beside it`(_ kind: Kind) async throws {
        let lane = try await lanes(kind)[0]
        let now = wallClockMicroseconds() / 1_000_000
        let (one, other) = (ConsumeRecord.valid(), ConsumeRecord.valid())
        let verdicts = await lane.consume([
            one, other, one, .valid(hash: one.hash, expiresAt: now + 300),
            .valid(hash: other.hash, expiresAt: now + 1), .valid(),
        ])
        #expect(
            verdicts == [
                .consumed, .consumed, .alreadyUsed, .alreadyUsed, .alreadyUsed, .consumed,
            ])
    }

    @Test(arguments: Kind.allCases, [Int64(-5), 0, 60, 200, 360, 385])
    func `a jti signed again with another exp was used`(_ kind: Kind, first: Int64) async throws {
        let lane = try await lanes(kind)[0]
        let now = wallClockMicroseconds() / 1_000_000
        let use = ConsumeRecord.valid(expiresAt: now + first)
        #expect(await lane.consume(use) == .consumed)
        for seconds in stride(from: Int64(-5), through: 385, by: 30) {
            let again = ConsumeRecord.valid(hash: use.hash, expiresAt: now + seconds)
            #expect(await lane.consume(again) == .alreadyUsed)
        }
    }

    @Test(arguments: Kind.allCases)
    func `a use decided on another revision is stale, and burns nothing`(_ kind: Kind) async throws
    {
        let lane = try await lanes(kind)[0]
        let use = ConsumeRecord.valid()
        let verdicts = await lane.consume([
            .valid(hash: use.hash, revision: 1), .valid(hash: use.hash, revision: -1), use,
        ])
        #expect(verdicts == [.stale, .stale, .consumed])
    }

    @Test(arguments: Kind.allCases, [Int64(-60), 420, 100_000])
    func `times the ring cannot keep are refused, and burn nothing`(
        _ kind: Kind, seconds: Int64
    ) async throws {
        let lane = try await lanes(kind)[0]
        let now = wallClockMicroseconds() / 1_000_000
        let use = ConsumeRecord.valid()
        let odd = ConsumeRecord.valid(hash: use.hash, expiresAt: now + seconds)
        #expect(await lane.consume(odd) == .unavailable(.clockSkew))
        #expect(await lane.consume(use) == .consumed)
    }

    @Test(arguments: Kind.allCases)
    func `a malformed record is refused alone and leaves its batch alone`(
        _ kind: Kind
    ) async throws {
        let lane = try await lanes(kind)[0]
        let verdicts = await lane.consume([
            .valid(hash: []), .valid(hash: [UInt8](repeating: 1, count: 33)),
            .valid(expiresAt: -1), .valid(expiresAt: .max), .valid(),
        ])
        #expect(verdicts.dropLast().allSatisfy { $0 == .unavailable(.malformedRecord) })
        #expect(verdicts.last == .consumed)
    }

    @Test(arguments: Kind.allCases)
    func `uses and mints of one turn are answered each by its own rules`(_ kind: Kind) async throws
    {
        let lanes = try await lanes(kind, 2)
        let use = ConsumeRecord.valid()
        async let consumed = withTaskGroup(of: [ConsumeVerdict].self) { group in
            for number in 0..<40 {
                group.addTask { await lanes[number % 2].consume([use, .valid()]) }
            }
            return await group.reduce(into: [ConsumeVerdict]()) { $0 += $1 }
        }
        async let minted = withTaskGroup(of: [MintVerdict].self) { group in
            for number in 0..<40 {
                group.addTask {
                    await lanes[number % 2].record([.valid(proof: .fresh()), .valid()])
                }
            }
            return await group.reduce(into: [MintVerdict]()) { $0 += $1 }
        }
        #expect(await minted.allSatisfy(\.isRecorded))
        #expect(await consumed.count { $0 == .consumed } == 41)
        #expect(await consumed.count { $0 == .alreadyUsed } == 39)
    }
}
