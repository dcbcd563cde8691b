import TestKit
import Testing

@testable import Broker

/// A primary with a synchronous standby (`design.md` §7): the primary dies, the standby takes over.
@Suite struct PromotionTests {
    /// Both servers in one connection string, whichever takes writes.
    private func url(_ primary: PostgresCluster, _ standby: PostgresCluster, _ database: String)
        -> String
    {
        let name = database.split(separator: "?")[0].split(separator: "/").last.map(String.init)
        return """
            host=\(primary.socketDirectory),\(standby.socketDirectory) port=5432,5432 user=postgres \
            dbname=\(name ?? "") target_session_attrs=read-write
            """
    }

    @Test(.timeLimit(.minutes(4)))
    func
        `R-101-26 promoted under load: every mint recorded has its row on the new primary, and service returns`()
        async throws
    {
        let primary = try await PostgresCluster()
        let database = try await primary.freshDatabase()
        let standby = try await PostgresCluster(standbyOf: primary)
        for sql in [
            "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()",
        ] { try await PostgresCluster.query(sql, at: primary.url) }
        let isSynchronous = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
        while try await PostgresCluster.query(isSynchronous, at: primary.url) != "1" {}

        let url = url(primary, standby, database)
        let lanes = (0..<2).map { _ in
            TestLane(postgres: url) {
                $0.waitingLimit = 1000
                $0.answerLimit = 3000
            }
        }
        let load = Load()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<16 {
                group.addTask {
                    while !load.isOver && !Task.isCancelled {
                        let record = MintRecord.valid(proof: .fresh(), client: .ample)
                        switch await lanes[worker % 2].record(record) {
                        case .recorded: load.append(record.jti)
                        case .unavailable: break
                        case let verdict: Issue.record("\(verdict)")
                        }
                    }
                }
            }
            group.addTask {
                await load.reaches(more: 200)
                try await primary.kill()
                try await standby.promote()
                // It waits for no standby of its own.
                await load.reaches(more: 200)
                load.end()
            }
            try await group.waitForAll()
        }
        let there = standby.url.replacing(
            "///broker?",
            with: "///\(database.split(separator: "?")[0].split(separator: "/").last ?? "")?")
        let rows = try await PostgresCluster.query(
            "SELECT jti FROM broker.assertion_jti", at: there
        ).split(separator: "\n").map(String.init)
        let handedOut = load.recorded
        #expect(Set(handedOut).count == handedOut.count)
        #expect(Set(handedOut).isSubset(of: rows))
        #expect(Set(rows).count == rows.count)
    }
}
