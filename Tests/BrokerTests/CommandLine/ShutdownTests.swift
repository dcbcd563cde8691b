import Glibc
import JOSE
import TestKit
import Testing

@testable import Broker

/// cases.md "Shutdown".
@Suite struct ShutdownTests {
    /// Waits until a mint waits for a lock; each question is answered by the database, so nothing is slept through.
    func isHeld(_ deployment: Deployment) async throws {
        let watcher = ControlConnection(conninfo: deployment.url)
        while try await watcher.query(
            "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        ).isEmpty {}
    }

    @Test func `SIGTERM ends listening and idle connections, and lets a held mint have its answer`()
        async throws
    {
        let deployment = try await Deployment()
        let broker = try await ServingBroker(try deployment.configuration())
        let idle = try await atOnce(20) { _ in
            let connection = try WireConnection(port: broker.port)
            try await connection.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = try await connection.response()
            return connection
        }
        let half = try WireConnection(port: broker.port)
        try await half.send("POST /v1/assertions HTTP/1.1\r\nHo")
        let lock = ControlConnection(conninfo: deployment.url)
        _ = try await lock.query("BEGIN")
        _ = try await lock.query("LOCK TABLE broker.assertion_jti IN ACCESS EXCLUSIVE MODE")
        let mint = try WireConnection(port: broker.port)
        try await mint.send(MintCall.token(deployment.token).octets)
        try await isHeld(deployment)
        broker.process.signal(SIGTERM)
        #expect(try await idle[0].isClosedByPeer())
        #expect(throws: WireConnection.Failure.self) { try WireConnection(port: broker.port) }
        _ = try await lock.query("ROLLBACK")
        let answer = try await mint.response()
        for connection in idle.dropFirst() { #expect(try await connection.isClosedByPeer()) }
        #expect(try await half.response().status >= 400)
        #expect(answer.status == 200)
        #expect(answer.first("connection") == "close")
        #expect(await broker.process.status() == 0)
        #expect(!broker.process.wasEndedBySignal)
        #expect(try await deployment.jtis() == [try #require(try answer.json()["jti"]?.string)])
    }

    @Test func `a second signal ends it at once`() async throws {
        let deployment = try await Deployment()
        let broker = try await ServingBroker(try deployment.configuration())
        let lock = ControlConnection(conninfo: deployment.url)
        _ = try await lock.query("BEGIN")
        _ = try await lock.query("LOCK TABLE broker.assertion_jti IN ACCESS EXCLUSIVE MODE")
        let mint = try WireConnection(port: broker.port)
        try await mint.send(MintCall.token(deployment.token).octets)
        try await isHeld(deployment)
        broker.process.signal(SIGTERM)
        _ = try await broker.process.line { $0.contains("broker.stopping") }
        broker.process.signal(SIGTERM)
        #expect(await broker.process.status() == 128 + SIGTERM)
        _ = try await lock.query("ROLLBACK")
    }

    @Test func `SIGINT is a request to stop as well`() async throws {
        let deployment = try await Deployment()
        let broker = try await ServingBroker(try deployment.configuration())
        broker.process.signal(SIGINT)
        #expect(await broker.process.status() == 0)
    }
}
