import TestKit
import Testing

@testable import Broker

/// The commit happened, and the news of it was lost (`cases.md`, group *store*).
@Suite struct LostCommitTests {
    @Test(.timeLimit(.minutes(3)))
    func `R-101-26 a batch whose commit nobody heard of is issued to nobody and never sent again`()
        async throws
    {
        let cluster = try await PostgresCluster.shared()
        let url = try await cluster.freshDatabase()
        let eater = try CommitEater(before: cluster)
        let lane = TestLane(postgres: eater.url(of: url)) { $0.waitingLimit = 30_000 }
        #expect(await lane.record(.valid()).isRecorded)
        var issued = 1
        for round in 1...5 {
            let limit = RatePolicy.only(3, name: "client")
            let records = (0..<3).map { _ in
                MintRecord.valid(clientId: "app\(round)", proof: .fresh(), client: limit)
            }
            eater.arm()
            let verdicts = await lane.record(records)
            #expect(verdicts.allSatisfy { $0 == .unavailable(.connectionLost) })
            #expect(eater.count == round)
            for record in records {
                let rows = try await PostgresCluster.query(
                    "SELECT count(*) FROM broker.assertion_jti WHERE jti = '\(record.jti)'", at: url
                )
                #expect(rows == "1")
            }
            // What may have been spent is spent: nobody gets it twice.
            let next = await lane.record(.valid(clientId: "app\(round)", client: limit))
            #expect(next.isLimited(by: limit))
            // And service goes on by itself.
            #expect(await lane.record(.valid()).isRecorded)
            issued += 1
        }
        let rows = try await PostgresCluster.query(
            "SELECT count(*), count(DISTINCT jti) FROM broker.assertion_jti", at: url)
        #expect(rows == "\(issued + 15)|\(issued + 15)")
    }
}
