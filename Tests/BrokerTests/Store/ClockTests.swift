import TestKit
import Testing

@testable import Broker

/// Replicas whose clocks differ (`cases.md`, group *store*): limits are decided on the database's clock alone.
@Suite struct ClockTests {
    @Test(.timeLimit(.minutes(2)))
    func `replicas 5 s apart share one limit exactly, and agree on what is left`() async throws {
        let url = try await PostgresCluster.shared().freshDatabase()
        let lanes = [Int64(-2_500_000), 2_500_000].map { offset in
            TestLane(postgres: url) {
                $0.waitingLimit = 30_000
                $0.wallClock = { wallClockMicroseconds() + offset }
            }
        }
        let jkt = MintRecord.randomJkt()
        let install = RatePolicy(name: "install", burst: 20, stepMicroseconds: 3_600_000_000)
        var left: [Int] = []
        for turn in 0..<30 {
            switch await lanes[turn % 2].record(.valid(dpopJkt: jkt, install: install)) {
            case .recorded(let remaining, _, _): left.append(remaining)
            case .limited(_, let wait): #expect(wait > 0 && wait <= install.stepMicroseconds)
            case let verdict: Issue.record("\(verdict)")
            }
        }
        #expect(left == (0..<20).reversed())
    }

    @Test(.timeLimit(.minutes(2)))
    func `a proof used at one replica is used at the other, however their clocks stand`()
        async throws
    {
        let url = try await PostgresCluster.shared().freshDatabase()
        let lanes = [Int64(-2_500_000), 2_500_000].map { offset in
            TestLane(postgres: url) {
                $0.waitingLimit = 30_000
                $0.wallClock = { wallClockMicroseconds() + offset }
            }
        }
        for first in 0..<2 {
            let proof = ProofUse.fresh()
            #expect(await lanes[first].record(.valid(proof: proof)).isRecorded)
            #expect(await lanes[1 - first].record(.valid(proof: proof)) == .proofReplayed)
        }
    }

    @Test(.timeLimit(.minutes(2)), arguments: [Int64(-31_000_000), 31_000_000])
    func `a broker more than 30 s off the database issues nothing`(offset: Int64) async throws {
        let url = try await PostgresCluster.shared().freshDatabase()
        let lane = TestLane(postgres: url) {
            $0.waitingLimit = 30_000
            $0.wallClock = { wallClockMicroseconds() + offset }
        }
        #expect(await lane.record(.valid()) == .unavailable(.clockSkew))
        #expect(
            try await PostgresCluster.query("SELECT count(*) FROM broker.assertion_jti", at: url)
                == "0")
    }
}
