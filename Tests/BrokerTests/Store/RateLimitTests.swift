import TestKit
import Testing

@testable import Broker

/// One table of cases for the arithmetic in Swift and in SQL.
@Suite struct RateLimitTests {
    struct Case: Sendable {
        let burst: Int
        let step: Int64
        /// `nil`: no row yet.
        let tat: Int64?
        let now: Int64
        let permits: Int64
        let wait: Int64
    }

    private static let second: Int64 = 1_000_000

    static let cases: [Case] = [
        // burst 3, one back every 20 s: "3 per 60 s"
        Case(burst: 3, step: 20 * second, tat: nil, now: 0, permits: 3, wait: 0),
        Case(burst: 3, step: 20 * second, tat: 0, now: 0, permits: 3, wait: 0),
        Case(burst: 3, step: 20 * second, tat: -5, now: 0, permits: 3, wait: 0),
        Case(burst: 3, step: 20 * second, tat: 1, now: 0, permits: 2, wait: 0),
        Case(burst: 3, step: 20 * second, tat: 20 * second, now: 0, permits: 2, wait: 0),
        Case(burst: 3, step: 20 * second, tat: 40 * second, now: 0, permits: 1, wait: 0),
        Case(burst: 3, step: 20 * second, tat: 40 * second + 1, now: 0, permits: 0, wait: 1),
        Case(burst: 3, step: 20 * second, tat: 60 * second, now: 0, permits: 0, wait: 20 * second),
        Case(
            burst: 3, step: 20 * second, tat: 60 * second, now: 200_000, permits: 0,
            wait: 19_800_000),
        Case(
            burst: 3, step: 20 * second, tat: 60 * second, now: 20 * second - 1, permits: 0,
            wait: 1),
        Case(burst: 3, step: 20 * second, tat: 60 * second, now: 20 * second, permits: 1, wait: 0),
        Case(burst: 3, step: 20 * second, tat: 60 * second, now: 60 * second, permits: 3, wait: 0),
        // one at a time
        Case(burst: 1, step: 1, tat: 1, now: 0, permits: 0, wait: 1),
        Case(burst: 1, step: 1, tat: 1, now: 1, permits: 1, wait: 0),
        // a burst that was lowered afterwards, and a clock that was set back
        Case(burst: 1, step: 10, tat: 100, now: 0, permits: 0, wait: 100),
        Case(burst: 5, step: 10, tat: 1000, now: 0, permits: 0, wait: 960),
        // the largest policy, today
        Case(
            burst: 1_000_000, step: 86_400_000_000, tat: nil, now: 1_800_000_000_000_000,
            permits: 1_000_000, wait: 0),
        Case(
            burst: 1_000_000, step: 86_400_000_000, tat: 1_800_000_000_000_000 + 86_400_000_000,
            now: 1_800_000_000_000_000, permits: 999_999, wait: 0),
    ]

    @Test(arguments: cases)
    func `gives the permits and the wait of the table`(_ row: Case) {
        let limit = RateLimit(
            RatePolicy(name: "p", burst: row.burst, stepMicroseconds: row.step))
        #expect(limit.permits(tat: row.tat, now: row.now) == row.permits)
        #expect(limit.wait(tat: row.tat, now: row.now) == row.wait)
    }

    @Test func `the database gives the permits and the wait of the table`() async throws {
        let connection = ControlConnection(
            conninfo: try await PostgresCluster.shared().freshDatabase())
        for row in Self.cases {
            let answer = try await connection.query(
                """
                SELECT broker.permits($1::bigint, $2::bigint, $3::bigint, $4::bigint) AS permits,
                    broker.permit_wait($1::bigint, $2::bigint, $3::bigint, $4::bigint) AS wait
                """,
                .integer(Int64(row.burst)), .integer(row.step), .integer(row.tat ?? row.now),
                .integer(row.now))
            #expect(try answer[0].integer("permits") == row.permits)
            #expect(try answer[0].integer("wait") == row.wait)
        }
    }

    @Test(arguments: 0..<100)
    func `no interval of any length sees more than the burst and what came back in it`(
        seed: Int
    ) {
        var random = SeededRandom(seed: UInt64(seed))
        let policy = RatePolicy(
            name: "p", burst: Int.random(in: 1...20, using: &random),
            stepMicroseconds: Int64.random(in: 1...50, using: &random))
        let limit = RateLimit(policy)
        var now: Int64 = 0
        var tat: Int64?
        var passed: [(time: Int64, count: Int64)] = []
        for _ in 0..<200 {
            now += Int64.random(in: 0...60, using: &random)
            let wait = limit.wait(tat: tat, now: now)
            if wait > 0 {
                // Never too early, never too late.
                #expect(limit.permits(tat: tat, now: now + wait - 1) == 0)
                #expect(limit.permits(tat: tat, now: now + wait) == 1)
            }
            let wanted = Int64.random(in: 0...8, using: &random)
            let available = limit.permits(tat: tat, now: now)
            let spent = limit.spend(wanted, tat: tat, now: now)
            #expect(spent.granted == min(wanted, available))
            tat = spent.tat
            passed.append((now, spent.granted))
        }
        expectNoOverrun(passed, policy)
    }

    @Test func `a refusal spends nothing`() {
        let limit = RateLimit(.only(1))
        let first = limit.spend(1, tat: nil, now: 0)
        let refused = limit.spend(1, tat: first.tat, now: 5)
        #expect(refused.granted == 0)
        #expect(refused.tat == first.tat)
    }
}

/// In every interval between two of these moments no more passed than the burst and one a step.
func expectNoOverrun(_ passed: [(time: Int64, count: Int64)], _ policy: RatePolicy) {
    for (first, from) in passed.enumerated() {
        var sum: Int64 = 0
        for to in passed[first...] {
            sum += to.count
            let cameBack = (to.time - from.time) / policy.stepMicroseconds
            if sum > Int64(policy.burst) + cameBack {
                Issue.record(
                    "\(sum) passed from \(from.time) to \(to.time) under \(policy)")
                return
            }
        }
    }
}
