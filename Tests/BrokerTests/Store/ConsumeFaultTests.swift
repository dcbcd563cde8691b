import TestKit
import Testing

@testable import Broker

/// A database that misbehaves: no identifier is burnt twice, and service returns by itself.
@Suite struct ConsumeFaultTests {
    private func lane(_ url: String) -> TestLane {
        TestLane(postgres: url) {
            $0.waitingLimit = 1000
            $0.answerLimit = 3000
        }
    }

    private func untilConsumed(_ lane: TestLane) async {
        while await lane.consume(.valid()) != .consumed, !Task.isCancelled {}
    }

    @Test func `one plan serves batches of every size`() async throws {
        let connection = ControlConnection(
            conninfo: try await PostgresCluster.shared().freshDatabase())
        let plans = try await connection.transaction { session throws(PostgresError) in
            try session.query("PREPARE batch AS \(ConsumeBatches.statement.sql)")
            for count in [1, 2, 64, 1, 256, 5, 1, 1, 30, 1, 1, 128] {
                let now = wallClockMicroseconds()
                func array(_ element: String) -> String {
                    "ARRAY[\([String](repeating: element, count: count).joined(separator: ","))]"
                }
                try session.query(
                    """
                    EXECUTE batch (\(now), \(count), \(array("0"))::bigint[],
                        \(array("sha256(random()::text::bytea)")),
                        \(array("\(now / 1_000_000 + 60)"))::bigint[])
                    """)
            }
            return try session.query(
                "SELECT custom_plans, generic_plans FROM pg_prepared_statements WHERE name = 'batch'"
            )
        }
        // Postgres tries five before it settles.
        #expect(try plans[0].integer("custom_plans") <= 5)
        #expect(try plans[0].integer("generic_plans") >= 7)
    }

    @Test(.timeLimit(.minutes(2)))
    func `a broken table refuses uses, not mints, and its repair needs no restart`() async throws {
        let url = try await PostgresCluster.shared().freshDatabase()
        let lane = lane(url)
        await untilConsumed(lane)
        try await PostgresCluster.query("ALTER TABLE broker.consumed_jti RENAME TO hidden", at: url)
        for _ in 0..<8 {
            #expect(await lane.consume(.valid()) == .unavailable(.refused(sqlState: "42P01")))
            #expect(await lane.record(.valid()).isRecorded)
        }
        try await PostgresCluster.query("ALTER TABLE broker.hidden RENAME TO consumed_jti", at: url)
        #expect(await lane.consume(.valid()) == .consumed)
    }

    @Test(.timeLimit(.minutes(2)))
    func `a table that is gone before the first use stops uses, and no mint`() async throws {
        let url = try await PostgresCluster.shared().freshDatabase()
        try await PostgresCluster.query("ALTER TABLE broker.consumed_jti RENAME TO hidden", at: url)
        let lane = TestLane(postgres: url) { $0.waitingLimit = 20_000 }
        for _ in 0..<3 {
            #expect(await lane.consume(.valid()) == .unavailable(.refused(sqlState: "42P01")))
            #expect(await lane.record(.valid()).isRecorded)
        }
        try await PostgresCluster.query("ALTER TABLE broker.hidden RENAME TO consumed_jti", at: url)
        #expect(await lane.consume(.valid()) == .consumed)
    }

    @Test(.timeLimit(.minutes(2)))
    func `a locked table is answered in bounded time, and mints go on beside it`() async throws {
        let url = try await PostgresCluster.shared().freshDatabase()
        let lane = lane(url)
        await untilConsumed(lane)
        let lock = try await HeldLock(
            "LOCK TABLE broker.consumed_jti IN ACCESS EXCLUSIVE MODE", at: url)
        let verdicts = await lane.consume((0..<50).map { _ in .valid() })
        #expect(verdicts.allSatisfy { $0 == .unavailable(.timedOut) })
        // The connection went with the batch, and the next one needs nothing of that table.
        while await !lane.record(.valid()).isRecorded, !Task.isCancelled {}
        try await lock.release()
        await untilConsumed(lane)
    }

    @Test(.timeLimit(.minutes(2)))
    func `a prepared statement lost between batches, as behind a pooler, costs no use`()
        async throws
    {
        let url = try await PostgresCluster.shared().freshDatabase()
        // Every batch's session forgets what was prepared, as if the next went to another session.
        try await PostgresCluster.query(
            """
            CREATE OR REPLACE FUNCTION broker.consumed_beside(
                own integer, wanted bytea, oldest integer, newest integer)
            RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN DEALLOCATE ALL; RETURN false; END $$
            """, at: url)
        let lane = TestLane(postgres: url) { $0.waitingLimit = 30_000 }
        for _ in 0..<5 {
            #expect(await lane.consume(.valid()) == .consumed)
            #expect(await lane.record(.valid()).isRecorded)
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `a statement of that name in the session already, as behind a pooler, costs no use`()
        async throws
    {
        let url = try await PostgresCluster.shared().freshDatabase()
        // Every mint leaves another statement under the name that uses prepare theirs with.
        try await PostgresCluster.query(
            """
            CREATE OR REPLACE FUNCTION broker.permits(burst bigint, step bigint, tat bigint, now bigint)
            RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
                IF NOT EXISTS (
                    SELECT FROM pg_prepared_statements WHERE name = '\(ConsumeBatches.statement.name)')
                THEN
                    EXECUTE 'PREPARE \(ConsumeBatches.statement.name) AS SELECT 1';
                END IF;
                RETURN GREATEST(0, (burst * step - GREATEST(tat - now, 0)) / step);
            END $$
            """, at: url)
        let lane = TestLane(postgres: url) { $0.waitingLimit = 30_000 }
        for _ in 0..<3 {
            #expect(await lane.record(.valid()).isRecorded)
            let use = ConsumeRecord.valid()
            #expect(await lane.consume(use) == .consumed)
            #expect(await lane.consume(use) == .alreadyUsed)
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `sent as text, for a pooler that keeps no prepared statement, a use counts once`()
        async throws
    {
        let url = try await PostgresCluster.shared().freshDatabase()
        let lane = TestLane(postgres: url) {
            $0.waitingLimit = 30_000
            $0.usesPreparedStatement = false
        }
        let use = ConsumeRecord.valid()
        #expect(await lane.consume(use) == .consumed)
        #expect(await lane.consume(use) == .alreadyUsed)
    }

    @Test(.timeLimit(.minutes(2)))
    func `beyond the queue's bound the answer comes at once, each kind by its own bound`()
        async throws
    {
        let lane = TestLane(postgres: "postgresql:///x?host=/nonexistent") {
            $0.queueLimit = 10
            $0.waitingLimit = 200
        }
        async let mints = lane.record((0..<15).map { _ in .valid() })
        let uses = await lane.consume((0..<15).map { _ in .valid() })
        #expect(uses.count { $0 == .unavailable(.overloaded) } == 5)
        #expect(uses.count { $0 == .unavailable(.notConnected) } == 10)
        #expect(await mints.count { $0 == .unavailable(.overloaded) } == 5)
    }

    @Test(.timeLimit(.minutes(2)))
    func `closing answers all that waits`() async throws {
        let lane = TestLane(postgres: "postgresql:///x?host=/nonexistent") {
            $0.waitingLimit = 60_000
        }
        async let verdicts = lane.consume([.valid(), .valid()])
        await lane.close()
        #expect(await verdicts.allSatisfy { $0 == .unavailable(.closed) })
        #expect(await lane.consume(.valid()) == .unavailable(.closed))
    }

    @Test(.timeLimit(.minutes(3)))
    func `the server killed under load: each use counted has its row, and none counts twice`()
        async throws
    {
        let cluster = try await PostgresCluster()
        let url = try await cluster.freshDatabase()
        let lanes = [lane(url), lane(url)]
        for lane in lanes { await untilConsumed(lane) }
        let load = Load()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    while !load.isOver && !Task.isCancelled {
                        // Two at once, and again as a caller would that got no answer.
                        let use = ConsumeRecord.valid()
                        for _ in 0..<2 {
                            async let one = lanes[0].consume(use)
                            async let other = lanes[1].consume(use)
                            for verdict in await [one, other] where verdict == .consumed {
                                load.append(Self.hex(use.hash))
                            }
                        }
                    }
                }
            }
            group.addTask {
                for _ in 0..<3 {
                    await load.reaches(more: 200)
                    try await cluster.kill()
                    try await cluster.start()
                }
                await load.reaches(more: 200)
                load.end()
            }
            try await group.waitForAll()
        }
        let handedOut = load.recorded
        let rows = try await PostgresCluster.query(
            "SELECT encode(hash, 'hex') FROM broker.consumed_jti", at: url
        ).split(separator: "\n").map(String.init)
        #expect(Set(handedOut).count == handedOut.count)
        #expect(Set(handedOut).isSubset(of: rows))
        #expect(Set(rows).count == rows.count)
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
