import Glibc
import JOSE
import Synchronization
import TestKit
import Testing

@testable import Broker

/// A database that goes away, and comes back, under a service that goes on.
@Suite struct OutageTests {
    /// Mints over eight connections until the end is called.
    private func load(_ deployment: Deployment, _ broker: RunningBroker, _ seen: SeenAnswers)
        async throws
    {
        _ = try await atOnce(8) { _ in
            let connection = try WireConnection(port: broker.service.port)
            while !seen.isOver {
                let jkt = Base64URL.encode(try SecureRandom.bytes(32))
                try await connection.send(
                    MintCall.token(deployment.token) { $0.dpopJkt = jkt }.octets)
                try seen.add(try await connection.response())
            }
        }
    }

    @Test
    func
        `killed under load: only 503s, every assertion has its row, and service returns by itself`()
        async throws
    {
        let cluster = try await PostgresCluster()
        let deployment = try await Deployment(in: cluster)
        let broker = try await deployment.start()
        let kill: () async throws -> Void = cluster.kill
        let seen = SeenAnswers()
        async let loading: Void = load(deployment, broker, seen)
        for _ in 0..<2 {
            await seen.more(50, of: 200)
            try await kill()
            await seen.more(20, of: 503)
            let down = try await broker.get("/readyz") { $0.status == 503 }
            #expect(try down.json()["checks"]?["database"]?.string == "unreachable")
            #expect(try await broker.get("/healthz").status == 200)
            try await cluster.start()
            await seen.more(50, of: 200)
        }
        seen.end()
        try await loading
        #expect(Set(seen.statuses.keys) == [200, 503])
        let received = seen.jtis
        let stored = try await deployment.jtis()
        #expect(Set(received).count == received.count)
        #expect(Set(stored).count == stored.count)
        #expect(Set(received).isSubset(of: stored))
        #expect(try await broker.get("/readyz") { $0.status == 200 }.status == 200)
        await broker.stop()
        #expect(try await broker.log.events("assertion.minted").count == received.count)
        try await LogSchema.check(try await broker.log.lines())
    }

    @Test
    func `on a full disk: only 503s, every assertion has its row, and service returns with room`()
        async throws
    {
        let place = try TemporaryDirectory()
        chmod(place.path, 0o755)
        let disk = try await FillableDisk(in: place.path)
        let cluster = try await PostgresCluster(environment: disk.environment)
        let deployment = try await Deployment(in: cluster)
        let broker = try await deployment.start()
        let seen = SeenAnswers()
        async let loading: Void = load(deployment, broker, seen)
        for _ in 0..<2 {
            await seen.more(50, of: 200)
            try disk.fill()
            await seen.more(20, of: 503)
            try disk.empty()
        }
        await seen.more(50, of: 200)
        seen.end()
        try await loading
        #expect(Set(seen.statuses.keys) == [200, 503])
        let stored = try await deployment.jtis()
        #expect(Set(seen.jtis).count == seen.jtis.count)
        #expect(Set(stored).count == stored.count)
        // Here, unlike after a kill, the database always said so when it had committed nothing.
        #expect(Set(seen.jtis) == Set(stored))
        await broker.stop()
        let refusals = try await broker.log.events("assertion.refused")
        #expect(refusals.contains { $0["cause"]?.string?.contains("53100") == true })
        try await cluster.stop()
    }

    /// cases.md "Fails open": each with its repair, and no restart.
    @Test(arguments: [
        (
            "ALTER TABLE broker.assertion_jti RENAME TO gone",
            "ALTER TABLE broker.gone RENAME TO assertion_jti"
        ),
        (
            "ALTER TABLE broker.assertion_jti ADD CONSTRAINT never CHECK (false) NOT VALID",
            "ALTER TABLE broker.assertion_jti DROP CONSTRAINT never"
        ),
    ])
    func `a database that refuses is 503 until it is repaired`(damage: String, repair: String)
        async throws
    {
        let deployment = try await Deployment()
        let broker = try await deployment.start()
        #expect(try await broker.send(.token(deployment.token)).status == 200)
        try await deployment.query(damage)
        let response = try await broker.send(.token(deployment.token))
        #expect(response.status == 503)
        #expect(response.first("retry-after") == "1")
        for word in ["assertion_jti", "relation", "constraint", "SQL", "42P01", "23514"] {
            #expect(!response.text.contains(word))
        }
        try await deployment.query(repair)
        #expect(try await broker.send(.token(deployment.token)).status == 200)
        let event = try #require(try await broker.log.events("assertion.refused").first)
        #expect(event["cause"]?.string?.contains("refused") == true)
        await broker.stop()
    }

    @Test func `with every backend ended the next mints go on over new connections`() async throws {
        let deployment = try await Deployment()
        let broker = try await deployment.start()
        #expect(try await broker.send(.token(deployment.token)).status == 200)
        try await deployment.query(
            """
            SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
        // Nothing was in flight, so not even one of these may fail.
        for _ in 0..<20 { #expect(try await broker.send(.token(deployment.token)).status == 200) }
        await broker.stop()
    }

    /// cases.md "Blocked worker threads": a lock held on the jti table holds up mints and nothing else.
    @Test func `while the jti table is locked liveness answers and mints end in 503`() async throws
    {
        let deployment = try await Deployment()
        let broker = try await deployment.start()
        #expect(try await broker.send(.token(deployment.token)).status == 200)
        let holder = ControlConnection(conninfo: deployment.url)
        _ = try await holder.query("BEGIN")
        _ = try await holder.query("LOCK TABLE broker.assertion_jti IN ACCESS EXCLUSIVE MODE")
        async let held = atOnce(100) { _ in try await broker.send(.token(deployment.token)).status }
        let health = try await atOnce(20) { _ in try await broker.get("/healthz").status }
        #expect(health.allSatisfy { $0 == 200 })
        #expect(try await held.allSatisfy { $0 == 503 })
        _ = try await holder.query("ROLLBACK")
        // The connection is given up with the batch, so the first mint may still find none.
        let served = try await broker.mint(.token(deployment.token)) { $0.status == 200 }
        #expect(served.status == 200)
        await broker.stop()
    }
}

/// What a load saw: every assertion it received, and how often each status came.
private final class SeenAnswers: Sendable {
    private struct Wait {
        let status: Int
        let goal: Int
        let resume: CheckedContinuation<Void, Never>
    }

    private struct State {
        var jtis: [String] = []
        var statuses: [Int: Int] = [:]
        var isOver = false
        var waiting: [Wait] = []
    }

    private let state = Mutex(State())

    var jtis: [String] { state.withLock { $0.jtis } }
    var statuses: [Int: Int] { state.withLock { $0.statuses } }
    var isOver: Bool { state.withLock { $0.isOver } }

    func add(_ response: WireResponse) throws {
        let jti = response.status == 200 ? try response.json()["jti"]?.string : nil
        let reached = state.withLock { state -> [Wait] in
            if let jti { state.jtis.append(jti) }
            state.statuses[response.status, default: 0] += 1
            let statuses = state.statuses
            let reached = state.waiting.filter { statuses[$0.status, default: 0] >= $0.goal }
            state.waiting.removeAll { statuses[$0.status, default: 0] >= $0.goal }
            return reached
        }
        reached.forEach { $0.resume.resume() }
    }

    /// Waits until so many more answers of this status have come.
    func more(_ count: Int, of status: Int) async {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                let goal = state.statuses[status, default: 0] + count
                state.waiting.append(Wait(status: status, goal: goal, resume: continuation))
            }
        }
    }

    func end() { state.withLock { $0.isOver = true } }
}
