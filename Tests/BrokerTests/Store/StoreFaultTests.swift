import Dispatch
import Glibc
import TestKit
import Testing

@testable import Broker

/// A database that misbehaves: nothing is issued that is not committed, and service returns by itself.
@Suite struct StoreFaultTests {
    /// Limits short enough for a test, long enough for a loaded machine.
    private func lane(_ url: String) -> TestLane {
        TestLane(postgres: url) {
            $0.waitingLimit = 1000
            $0.answerLimit = 3000
        }
    }

    /// Mints until one is recorded: the event "it is back". The suite's time limit bounds it.
    private func untilRecorded(_ lane: TestLane) async {
        while await !lane.record(.valid()).isRecorded {}
    }

    private func jtis(_ url: String) async throws -> [String] {
        try await PostgresCluster.query("SELECT jti FROM broker.assertion_jti", at: url)
            .split(separator: "\n").map(String.init)
    }

    @Test(.timeLimit(.minutes(2)))
    func `a locked table is answered in bounded time, and nothing waits on in the server`()
        async throws
    {
        let url = try await PostgresCluster.shared().freshDatabase()
        let lane = lane(url)
        await untilRecorded(lane)
        let lock = try await HeldLock(
            "LOCK TABLE broker.install_rate IN ACCESS EXCLUSIVE MODE", at: url)
        let verdicts = await lane.record((0..<50).map { _ in .valid() })
        #expect(verdicts.allSatisfy { $0 == .unavailable(.timedOut) })
        try await lock.release()
        await untilRecorded(lane)
    }

    @Test(
        .timeLimit(.minutes(2)),
        arguments: [
            ("DROP TABLE broker.assertion_jti CASCADE", "42P01", nil as String?),
            (
                "ALTER TABLE broker.assertion_jti RENAME TO hidden", "42P01",
                "ALTER TABLE broker.hidden RENAME TO assertion_jti"
            ),
            (
                "ALTER TABLE broker.install_rate ADD CHECK (tat < 0) NOT VALID", "23514",
                "ALTER TABLE broker.install_rate DROP CONSTRAINT install_rate_tat_check"
            ),
        ])
    func `a broken schema refuses all, and its repair needs no restart`(
        breaking: String, sqlState: String, repair: String?
    ) async throws {
        let url = try await PostgresCluster.shared().freshDatabase()
        let lane = lane(url)
        await untilRecorded(lane)
        try await PostgresCluster.query(breaking, at: url)
        for _ in 0..<8 {
            #expect(await lane.record(.valid()) == .unavailable(.refused(sqlState: sqlState)))
        }
        guard let repair else { return }
        try await PostgresCluster.query(repair, at: url)
        #expect(await lane.record(.valid()).isRecorded)
    }

    @Test(.timeLimit(.minutes(2)))
    func `a revoked INSERT refuses all until it is granted again`() async throws {
        let url = try await PostgresCluster.shared().freshDatabase()
        let role = "revoked_" + MintRecord.randomText(12).filter(\.isLetter).lowercased()
        try await PostgresCluster.query("CREATE ROLE \(role) LOGIN IN ROLE broker_service", at: url)
        let lane = lane(url.replacing("user=postgres", with: "user=\(role)"))
        await untilRecorded(lane)
        try await PostgresCluster.query("REVOKE broker_service FROM \(role)", at: url)
        #expect(await lane.record(.valid()) == .unavailable(.refused(sqlState: "42501")))
        #expect(await lane.record(.valid()) == .unavailable(.refused(sqlState: "42501")))
        try await PostgresCluster.query("GRANT broker_service TO \(role)", at: url)
        #expect(await lane.record(.valid()).isRecorded)
    }

    @Test(.timeLimit(.minutes(2)))
    func `a database turned read-only refuses, on ever new connections, until it takes writes`()
        async throws
    {
        let url = try await PostgresCluster.shared().freshDatabase()
        let name = try await PostgresCluster.query("SELECT current_database()", at: url)
        let lane = TestLane(postgres: url) { $0.waitingLimit = 30_000 }
        await untilRecorded(lane)
        // As a demotion does, this reaches new connections; the old one must be thrown away.
        try await PostgresCluster.query(
            "ALTER DATABASE \(name) SET default_transaction_read_only = on", at: url)
        try await PostgresCluster.query(
            """
            SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """, at: url)
        for _ in 0..<5 {
            #expect(await lane.record(.valid()) == .unavailable(.refused(sqlState: "25006")))
        }
        try await PostgresCluster.query(
            "ALTER DATABASE \(name) RESET default_transaction_read_only",
            at: PostgresCluster.shared().url)
        await untilRecorded(lane)
    }

    @Test(.timeLimit(.minutes(2)))
    func `backends terminated while idle cost no mint`() async throws {
        let url = try await PostgresCluster.shared().freshDatabase()
        let lane = TestLane(postgres: url) { $0.waitingLimit = 30_000 }
        for _ in 0..<5 {
            #expect(await lane.record(.valid()).isRecorded)
            // Returns once the backends are gone.
            try await PostgresCluster.query(
                """
                SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
                """, at: url)
        }
        #expect(await lane.record(.valid()).isRecorded)
        let backends = try await PostgresCluster.query(
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """, at: url)
        #expect(backends == "1")
    }

    @Test(.timeLimit(.minutes(2)))
    func
        `started before the server, it refuses in bounded time and mints once the server is there`()
        async throws
    {
        let cluster = try await PostgresCluster()
        let url = try await cluster.freshDatabase()
        try await cluster.stop()
        let lane = lane(url)
        #expect(await lane.record(.valid()) == .unavailable(.notConnected))
        try await cluster.start()
        await untilRecorded(lane)
    }

    @Test(.timeLimit(.minutes(2)))
    func `beyond the queue's bound the answer comes at once`() async throws {
        let lane = TestLane(postgres: "postgresql:///x?host=/nonexistent") {
            $0.queueLimit = 10
            $0.waitingLimit = 200
        }
        let verdicts = await lane.record((0..<15).map { _ in .valid() })
        #expect(verdicts.count { $0 == .unavailable(.overloaded) } == 5)
        #expect(verdicts.count { $0 == .unavailable(.notConnected) } == 10)
    }

    @Test(.timeLimit(.minutes(2)))
    func `a prepared statement lost between batches, as behind a pooler, costs no mint`()
        async throws
    {
        let url = try await PostgresCluster.shared().freshDatabase()
        // Every batch's session forgets what was prepared, as if the next went to another session.
        try await PostgresCluster.query(
            """
            CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN DEALLOCATE ALL; RETURN NULL; END $$;
            CREATE TRIGGER forget AFTER INSERT ON broker.install_rate
                FOR EACH STATEMENT EXECUTE FUNCTION forget();
            """, at: url)
        let lane = TestLane(postgres: url) { $0.waitingLimit = 30_000 }
        for _ in 0..<5 { #expect(await lane.record(.valid()).isRecorded) }
    }

    @Test(.timeLimit(.minutes(2)))
    func `a halted server is answered in bounded time, and no old connection stays`() async throws {
        let cluster = try await PostgresCluster()
        let url = try await cluster.freshDatabase()
        let lane = lane(url)
        await untilRecorded(lane)
        try cluster.signal(SIGSTOP)
        #expect(await lane.record(.valid()) == .unavailable(.timedOut))
        // Connecting again gets nowhere either.
        #expect(await lane.record(.valid()).isUnavailable)
        try cluster.signal(SIGCONT)
        await untilRecorded(lane)
        // One connection of the lane's is left, the one that mints.
        let backends = """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """
        while try await PostgresCluster.query(backends, at: url) != "1" {}
        #expect(await lane.record(.valid()).isRecorded)
    }

    @Test(.timeLimit(.minutes(2)))
    func `closing answers all that waits`() async throws {
        let lane = TestLane(postgres: "postgresql:///x?host=/nonexistent") {
            $0.waitingLimit = 60_000
        }
        async let verdicts = lane.record([.valid(), .valid()])
        await lane.close()
        #expect(await verdicts.allSatisfy { $0 == .unavailable(.closed) })
        #expect(await lane.record(.valid()) == .unavailable(.closed))
    }

    @Test(.timeLimit(.minutes(3)))
    func
        `R-101-26 the server killed under load: every mint recorded has its row, and service returns`()
        async throws
    {
        let cluster = try await PostgresCluster()
        let url = try await cluster.freshDatabase()
        let lanes = [lane(url), lane(url)]
        for lane in lanes { await untilRecorded(lane) }
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
        let rows = try await jtis(url)
        #expect(Set(handedOut).count == handedOut.count)
        #expect(Set(handedOut).isSubset(of: rows))
        #expect(Set(rows).count == rows.count)
    }
}
