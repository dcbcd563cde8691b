import TestKit
import Testing

@testable import Broker

/// The store through a real PgBouncer in transaction mode (`design.md` §7): a lane's batches run on whatever session is free.
@Suite struct PoolerTests {
    @Test(.timeLimit(.minutes(3)))
    func `lanes that share fewer sessions mint, limit and consume as without a pooler`()
        async throws
    {
        let cluster = try await PostgresCluster.shared()
        let url = try await cluster.freshDatabase()
        let pooler = try await Pooler(before: cluster, sessions: 2)
        let lanes = (0..<4).map { _ in
            TestLane(postgres: pooler.url(of: url)) { $0.waitingLimit = 30_000 }
        }
        let limited = RatePolicy.only(40, name: "client")
        let verdicts = await withTaskGroup(of: [MintVerdict].self) { group in
            for lane in lanes {
                group.addTask {
                    var verdicts: [MintVerdict] = []
                    for _ in 0..<20 {
                        verdicts += await lane.record([
                            .valid(proof: .fresh(), client: limited), .valid(),
                        ])
                    }
                    return verdicts
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(verdicts.count(where: \.isRecorded) == 40 + 80)
        #expect(verdicts.count { $0.isLimited(by: limited) } == 40)
        let use = ConsumeRecord.valid()
        let uses = await withTaskGroup(of: ConsumeVerdict.self) { group in
            for lane in lanes { group.addTask { await lane.consume(use) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(uses.count { $0 == .consumed } == 1)
        #expect(uses.count { $0 == .alreadyUsed } == 3)
        let rows = try await PostgresCluster.query(
            "SELECT count(*), count(DISTINCT jti) FROM broker.assertion_jti", at: url)
        #expect(rows == "120|120")
        for lane in lanes { await lane.close() }
        await pooler.stop()
    }

    @Test(.timeLimit(.minutes(3)))
    func `a pooler that is gone is told in bounded time`() async throws {
        let cluster = try await PostgresCluster.shared()
        let url = try await cluster.freshDatabase()
        let first = try await Pooler(before: cluster, sessions: 2)
        let lane = TestLane(postgres: first.url(of: url)) { $0.waitingLimit = 30_000 }
        #expect(await lane.record(.valid()).isRecorded)
        await first.stop()
        let hasty = TestLane(postgres: first.url(of: url)) { $0.waitingLimit = 200 }
        #expect(await hasty.record(.valid()) == .unavailable(.notConnected))
        await hasty.close()
        await lane.close()
    }
}
