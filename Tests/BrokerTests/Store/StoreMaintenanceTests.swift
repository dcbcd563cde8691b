import TestKit
import Testing

@testable import Broker

@Suite struct StoreMaintenanceTests {
    private func world() async throws -> (url: String, connection: ControlConnection) {
        let url = try await PostgresCluster.shared().freshDatabase()
        return (url, ControlConnection(conninfo: url))
    }

    /// `count` limits that have been full again for `seconds`.
    private func insertRates(
        _ count: Int64, fullSince seconds: Int64, _ connection: ControlConnection
    ) async throws {
        _ = try await connection.query(
            """
            INSERT INTO broker.install_rate (client_id, dpop_jkt, policy, burst, step, granted, tat)
            SELECT 'app', left(md5(i::text) || md5($2 || i), 43), 'install', 1, 1, 0,
                ((extract(epoch FROM clock_timestamp()) - $2::bigint) * 1000000)::bigint
            FROM generate_series(1, $1::bigint) AS i
            """, .integer(count), .integer(seconds))
    }

    private func rates(_ connection: ControlConnection) async throws -> Int64 {
        try await connection.query("SELECT count(*) FROM broker.install_rate")[0].integer("count")
    }

    @Test func `forgets limits that have been full for a minute, and only those`() async throws {
        let (_, connection) = try await world()
        try await insertRates(70_000, fullSince: 70, connection)
        try await insertRates(500, fullSince: 5, connection)
        try await insertRates(500, fullSince: -600, connection)
        let round = try await StoreMaintenance(connection: connection).run()
        #expect(round.forgotten == 70_000)
        #expect(try await rates(connection) == 1000)
    }

    @Test func `skips rows someone holds, and waits for nobody`() async throws {
        let (url, connection) = try await world()
        try await insertRates(10, fullSince: 100, connection)
        let lock = try await HeldLock(
            "SELECT FROM broker.install_rate ORDER BY dpop_jkt LIMIT 3 FOR UPDATE", at: url)
        #expect(try await StoreMaintenance(connection: connection).run().forgotten == 7)
        try await lock.release()
        #expect(try await StoreMaintenance(connection: connection).run().forgotten == 3)
    }

    @Test func `two at once forget each limit once`() async throws {
        let (url, connection) = try await world()
        try await insertRates(20_000, fullSince: 100, connection)
        let total = try await withThrowingTaskGroup(of: Int64.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    try await StoreMaintenance(connection: ControlConnection(conninfo: url)).run()
                        .forgotten
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(total == 20_000)
        #expect(try await rates(connection) == 0)
    }

    @Test(arguments: ["-1, 1, 60", "0, 0, 60", "0, 1, 59"])
    func `refuses bounds that would forget too much or nothing`(arguments: String) async throws {
        let (_, connection) = try await world()
        await #expect(throws: PostgresError.self) {
            try await connection.query("SELECT broker.forget_idle_rates(\(arguments))")
        }
    }

    @Test func `R-101-25 a limit forgotten is a full one: nothing is gained by it`() async throws {
        let (url, connection) = try await world()
        let lane = TestLane(postgres: url) { $0.waitingLimit = 20_000 }
        let jkt = MintRecord.randomJkt()
        #expect(await lane.record(.valid(dpopJkt: jkt, install: .only(1))).isRecorded)
        #expect(try await StoreMaintenance(connection: connection).run().forgotten == 0)
        #expect(await lane.record(.valid(dpopJkt: jkt, install: .only(1))).isLimited)
    }
}
