import Foundation
import JOSE
import Synchronization
import TestKit
import Testing

@testable import Broker

/// The consume call of whole services over a real Postgres.
@Suite struct ConsumeServiceTests {
    @Test func `32 racing calls over two replicas: exactly one is the first`() async throws {
        let deployment = try await Deployment()
        let brokers = [try await deployment.start(), try await deployment.start()]
        for _ in 0..<3 {
            let call = ConsumeCall(
                try await brokers[0].assertion(deployment), token: deployment.consumeToken)
            let statuses = try await atOnce(32) { number in
                try await brokers[number % 2].send(call).status
            }
            #expect(statuses.count { $0 == 200 } == 1)
            #expect(statuses.count { $0 == 409 } == 31)
        }
        for broker in brokers { await broker.stop() }
    }

    @Test func `a token revoked elsewhere acts on the next call, and burns nothing`() async throws {
        let deployment = try await Deployment()
        let broker = try await deployment.start()
        let assertion = try await broker.assertion(deployment)
        let tokens = TokenRepository(connection: ControlConnection(conninfo: deployment.url))
        #expect(try await tokens.revoke(id: "t2"))
        let call = ConsumeCall(assertion, token: deployment.consumeToken)
        #expect(try await broker.send(call).code == "caller_unauthenticated")
        #expect(try await deployment.query("SELECT count(*) FROM broker.consumed_jti") == "0")
        await broker.stop()
    }

    /// cases.md "Fails open".
    @Test func `a database that refuses is 503 until it is repaired, and minting goes on`()
        async throws
    {
        let deployment = try await Deployment()
        let broker = try await deployment.start()
        let call = ConsumeCall(
            try await broker.assertion(deployment), token: deployment.consumeToken)
        try await deployment.query("ALTER TABLE broker.consumed_jti RENAME TO gone")
        for _ in 0..<3 {
            let response = try await broker.send(call)
            #expect(response.status == 503)
            #expect(response.first("retry-after") == "1")
            #expect(!response.text.contains("consumed_jti"))
        }
        #expect(try await broker.send(.token(deployment.token)).status == 200)
        try await deployment.query("ALTER TABLE broker.gone RENAME TO consumed_jti")
        #expect(try await broker.send(call).status == 200)
        #expect(try await broker.send(call).status == 409)
        await broker.stop()
    }

    @Test func `killed under load: each 200 has its row, and no jti got two`() async throws {
        let cluster = try await PostgresCluster()
        let deployment = try await Deployment(in: cluster)
        let brokers = [try await deployment.start(), try await deployment.start()]
        let seen = Seen()
        async let loading: Void = load(deployment, brokers, seen)
        for _ in 0..<2 {
            await seen.reaches(more: 40)
            try await cluster.kill()
            try await cluster.start()
        }
        await seen.reaches(more: 40)
        seen.end()
        try await loading
        let (accepted, statuses) = seen.result
        #expect(statuses.isSubset(of: [200, 409, 503]))
        #expect(Set(accepted).count == accepted.count, "a jti got two 200s")
        let rows = Set(
            try await deployment.query("SELECT encode(hash, 'hex') FROM broker.consumed_jti")
                .split(separator: "\n").map(String.init))
        let hashes = accepted.map { jti in
            SHA256.hash("app \(jti)".utf8).map { String(format: "%02x", $0) }.joined()
        }
        #expect(rows.isSuperset(of: hashes))
        for broker in brokers {
            await broker.stop()
            try await LogSchema.check(try await broker.log.lines())
        }
        let logged =
            try await brokers[0].log.events("assertion.consumed").count
            + brokers[1].log.events("assertion.consumed").count
        #expect(logged == accepted.count)
    }

    /// Mints and consumes over six connections; each assertion goes to both replicas at once, and again after a 503.
    private func load(_ deployment: Deployment, _ brokers: [RunningBroker], _ seen: Seen)
        async throws
    {
        _ = try await atOnce(6) { number in
            while !seen.isOver {
                let minted = try await brokers[number % 2].send(
                    .token(deployment.token) {
                        $0.dpopJkt = Base64URL.encode(
                            SHA256.hash((0..<16).map { _ in UInt8.random(in: 0...255) }))
                    })
                guard minted.status == 200 else { continue }
                let assertion = try #require(try minted.json()["client_assertion"]?.string)
                let call = ConsumeCall(assertion, token: deployment.consumeToken)
                for _ in 0..<3 {
                    async let one = brokers[0].send(call)
                    async let other = brokers[1].send(call)
                    let answers = try await [one, other]
                    for answer in answers { try seen.add(answer) }
                    if answers.allSatisfy({ $0.status != 503 }) { break }
                }
            }
        }
    }

    /// Outside judges: `curl` mints, Python's `http.client` consumes.
    @Test func `what curl minted, a Python client consumes once`() async throws {
        let deployment = try await Deployment()
        let broker = try await deployment.start()
        let port = broker.service.port
        let minted = try await runChecked([
            "curl", "-sS", "--fail-with-body", "-H", "Authorization: Bearer \(deployment.token)",
            "-H", "Content-Type: application/json", "-d",
            "{\"client_id\":\"app\",\"audience\":\"\(Sample.issuer)\",\"dpop_jkt\":\"\(Sample.jkt)\"}",
            "http://127.0.0.1:\(port)/v1/assertions",
        ])
        let assertion = try #require(
            try JSONValue(parsing: minted)["client_assertion"]?.string)
        let judged = try await Oracle.run(
            "consume.py",
            ["--port", "\(port)", "--audience", Sample.issuer, "--token", deployment.consumeToken],
            input: assertion)
        #expect(judged == "200 409\n")
        await broker.stop()
    }
}

/// What a load saw.
private final class Seen: Sendable {
    private struct State {
        var accepted: [String] = []
        var statuses: Set<Int> = []
        var isOver = false
        var waiting: [(goal: Int, resume: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var isOver: Bool { state.withLock(\.isOver) }
    var result: (accepted: [String], statuses: Set<Int>) {
        state.withLock { ($0.accepted, $0.statuses) }
    }

    func end() { state.withLock { $0.isOver = true } }

    func add(_ answer: WireResponse) throws {
        let jti = answer.status == 200 ? try answer.json()["jti"]?.string : nil
        let reached = state.withLock { state in
            if let jti { state.accepted.append(jti) }
            state.statuses.insert(answer.status)
            let count = state.accepted.count
            let reached = state.waiting.filter { $0.goal <= count }
            state.waiting.removeAll { $0.goal <= count }
            return reached
        }
        reached.forEach { $0.resume.resume() }
    }

    /// Waits until so many more were accepted.
    func reaches(more count: Int) async {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.waiting.append((state.accepted.count + count, continuation))
            }
        }
    }
}
