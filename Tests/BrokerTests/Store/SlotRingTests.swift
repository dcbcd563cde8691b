import TestKit
import Testing

@testable import Broker

/// The ring of jti partitions, and what may be emptied when.
@Suite struct SlotRingTests {
    private struct World {
        let url: String
        let connection: ControlConnection
        let maintenance: StoreMaintenance

        init() async throws {
            url = try await PostgresCluster.shared().freshDatabase()
            connection = ControlConnection(conninfo: url)
            maintenance = StoreMaintenance(connection: connection)
        }

        /// Puts a row in as a mint would have, whose assertion expires `seconds` from the database's now.
        func insert(expiringIn seconds: Int64) async throws {
            _ = try await connection.query(
                """
                INSERT INTO broker.assertion_jti (slot, jti, client_id, dpop_jkt, expires_at)
                SELECT e / 120, $2, 'app', $3, e
                FROM (SELECT extract(epoch FROM now())::bigint + $1::bigint AS e) AS t
                """, .integer(seconds), .text(MintRecord.randomText(24)),
                .text(MintRecord.randomJkt()))
        }

        /// The same for a use of such an assertion.
        func insertUse(expiringIn seconds: Int64) async throws {
            _ = try await connection.query(
                """
                INSERT INTO broker.consumed_jti (slot, hash)
                SELECT (extract(epoch FROM now())::bigint + $1::bigint) / 120, sha256($2::bytea)
                """, .integer(seconds), .bytes(Array(MintRecord.randomText(24).utf8)))
        }

        func count(_ table: String = "assertion_jti") async throws -> Int64 {
            try await connection.query("SELECT count(*) FROM broker.\(table)")[0]
                .integer("count")
        }
    }

    @Test(arguments: [Int64(300), 60, 1, 0, -1, -30, -60, -89])
    func `R-101-22 a row stays until its exp and 90 s`(expiringIn seconds: Int64) async throws {
        let world = try await World()
        try await world.insert(expiringIn: seconds)
        #expect(try await world.maintenance.run().emptied == [])
        #expect(try await world.count() == 1)
    }

    @Test(arguments: [Int64(-215), -400, -1000, -1400, -1920, -5000, -100_000])
    func `a row of a slot that ended 90 s ago goes`(expiringIn seconds: Int64) async throws {
        let world = try await World()
        try await world.insert(expiringIn: seconds)
        // A partition that mints could use now is left for a later round.
        let partition = try await world.connection.query(
            "SELECT tableoid::regclass AS name FROM broker.assertion_jti")[0].text("name")
        let inUse = try await world.connection.query(
            """
            SELECT bool_or(s % 16 = (SELECT slot % 16 FROM broker.assertion_jti)) AS used
            FROM generate_series((extract(epoch FROM now())::bigint - 90) / 120,
                (extract(epoch FROM now())::bigint + 480) / 120) AS s
            """)[0].boolean("used")
        let emptied = try await world.maintenance.run().emptied
        if inUse {
            #expect(emptied == [])
        } else {
            #expect(emptied.map { "broker." + $0 } == [partition])
            #expect(try await world.count() == 0)
        }
    }

    @Test(arguments: [Int64(390), 60, 1, 0, -1, -30, -60, -89])
    func `a use stays until its assertion's exp and 90 s`(expiringIn seconds: Int64) async throws {
        let world = try await World()
        try await world.insertUse(expiringIn: seconds)
        #expect(try await world.maintenance.run().emptied == [])
        #expect(try await world.count("consumed_jti") == 1)
    }

    @Test func `old uses go, a partition at a time, beside those that stay`() async throws {
        let world = try await World()
        // -900 lies in no partition that is in use now.
        for seconds: Int64 in [-900, -900, 60] { try await world.insertUse(expiringIn: seconds) }
        try await world.insert(expiringIn: -900)
        let emptied = try await world.maintenance.run().emptied
        #expect(emptied.count == 2)
        #expect(emptied.contains { $0.hasPrefix("consumed_jti_") })
        #expect(try await world.count("consumed_jti") == 1)
    }

    @Test func `a partition with a row that must stay keeps all its rows`() async throws {
        let world = try await World()
        // Two slots of one partition, a whole turn of the ring apart.
        try await world.insert(expiringIn: 60)
        try await world.insert(expiringIn: 60 - 16 * 120)
        try await world.insert(expiringIn: 60 - 32 * 120)
        #expect(try await world.maintenance.run().emptied == [])
        #expect(try await world.count() == 3)
    }

    @Test func `a partition someone reads is left for next time and holds up nobody`() async throws
    {
        let world = try await World()
        // Not in use for mints: more than four slots back, less than a turn.
        try await world.insert(expiringIn: -900)
        let partition = try await world.connection.query(
            "SELECT tableoid::regclass AS name FROM broker.assertion_jti")[0].text("name")
        let lock = try await HeldLock("LOCK TABLE \(partition) IN ACCESS SHARE MODE", at: world.url)
        #expect(try await world.maintenance.run().emptied == [])
        #expect(try await world.count() == 1)
        try await lock.release()
        #expect(try await world.maintenance.run().emptied.count == 1)
    }

    @Test func `two replicas at once empty a partition once`() async throws {
        let world = try await World()
        let url = world.url
        try await world.insert(expiringIn: -900)
        let emptied = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await StoreMaintenance(connection: ControlConnection(conninfo: url)).run()
                        .emptied
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(emptied.count == 1)
    }

    @Test(arguments: ["0, 480", "89, 480", "90, 479", "900, 900"])
    func `limits that would empty what may be needed are refused`(arguments: String) async throws {
        let world = try await World()
        await #expect(throws: PostgresError.self) {
            try await world.connection.query("SELECT broker.empty_expired_slots(\(arguments))")
        }
    }
}
