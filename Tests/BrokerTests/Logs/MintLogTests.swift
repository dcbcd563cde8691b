import AssertionMint
import Glibc
import JOSE
import SocketServer
import Testing

@testable import Broker

/// `design.md` §8: every mint leaves exactly one event, in the form of `deploy/log-schema.json`, and no secret.
@Suite struct MintLogTests {
    /// One call of each kind of end, with the code the log must show (`nil`: minted).
    static func calls(_ broker: TestBroker, _ install: Install) throws -> [(
        MintCall, code: String?
    )] {
        let token = MintRouteTests.token
        let used = try broker.proof(install)
        return [
            (.token(token), nil), (.token(token) { $0.clientId = "app-ps" }, nil),
            (.proof(used, jkt: install.jkt), nil),
            (.proof(used, jkt: install.jkt), "invalid_dpop_proof"),
            (
                .proof(try broker.proof(install) { $0.nonce = nil }, jkt: install.jkt),
                "use_dpop_nonce"
            ),
            (.proof("a.b.c", jkt: install.jkt), "invalid_dpop_proof"),
            (MintCall(), "caller_unauthenticated"),
            (.token("tb_revoked"), "caller_unauthenticated"),
            (.token("tb_unknown"), "caller_unauthenticated"),
            (.token("tb_rival"), "caller_not_allowed"),
            (.token(token) { $0.clientId = "nobody" }, "unknown_client"),
            (.token(token) { $0.audience = "https://evil.example" }, "invalid_audience"),
            (.token(token) { $0.body = "{" }, "invalid_request"),
            (.token(token) { $0.dpopJkt = "short" }, "invalid_request"),
            (.token(token) { $0.set("Content-Type", "text/plain") }, "unsupported_media_type"),
        ]
    }

    @Test func `one event a mint, good or bad, each as the schema says`() async throws {
        let broker = try await TestBroker(try MintRouteTests.directory())
        let install = try Install()
        let calls = try Self.calls(broker, install)
        var requestIds: [String?] = []
        for (call, _) in calls {
            let response = try await broker.send(call)
            requestIds.append(
                response.code == nil ? nil : try response.json()["request_id"]?.string)
        }
        let events = try await broker.log.events("assertion.")
        #expect(events.map { $0["code"]?.string } == calls.map(\.code))
        #expect(events.count { $0["event"]?.string == "assertion.minted" } == 3)
        for (event, requestId) in zip(events, requestIds) where requestId != nil {
            #expect(
                event["request_id"]?.string == requestId, "a caller's report is found in the log")
        }
        #expect(events.allSatisfy { $0["remote"]?.string == "127.0.0.1" })
        #expect(events.allSatisfy { ($0["duration_us"]?.integer ?? -1) >= 0 })
        try await LogSchema.check(try await broker.log.lines())
    }

    /// R-101-24: with a backend's token the install is the backend's word, and the event says so.
    @Test func `a minted event tells whom, by what, with which key and how many are left`()
        async throws
    {
        let broker = try await TestBroker(try MintRouteTests.directory())
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        let response = try await broker.send(
            .token(MintRouteTests.token) {
                $0.set("traceparent", "00-\(trace)-00f067aa0ba902b7-01")
            })
        let event = try #require(try await broker.log.events("assertion.minted").first)
        #expect(event["request_id"]?.string == trace)
        #expect(event["tenant"]?.string == "acme")
        #expect(event["client_id"]?.string == "app")
        #expect(event["jkt"]?.string == Sample.jkt)
        #expect(event["jkt_proven"]?.bool == false)
        #expect(event["gate"]?.string == "backend_token")
        #expect(event["token_id"]?.string == "id-of-tb_good")
        #expect(event["alg"]?.string == "ES256")
        #expect(event["kid"]?.string == (try MintRouteTests.claims(response).jws.kid))
        #expect(event["jti"]?.string == (try response.json()["jti"]?.string))
        #expect(event["remaining"]?.integer == 29)
    }

    /// cases.md "Secrets in output".
    @Test func `no assertion, token, proof or key is in the log or in a refusal`() async throws {
        let key = try PrivateKey.generate(.ES256)
        let token = "tb_canary-token-0123456789"
        let broker = try await TestBroker(
            try Sample.directory(
                [Sample.client(settings: try Sample.settings(), key: key)],
                tokens: [
                    Sample.token(token, id: "t1"),
                    Sample.token("tb_canary-revoked", isRevoked: true, id: "t2"),
                ]))
        let install = try Install()
        var canaries = [token, "tb_canary-revoked", "canary-unknown"]
        var refusals = ""
        let proofs = try (0..<4).map { _ in try broker.proof(install) }
        canaries += proofs.flatMap { $0.split(separator: ".").map(String.init) }
        for call in [
            MintCall.token(token), .proof(proofs[0], jkt: install.jkt),
            .proof(proofs[0], jkt: install.jkt), .proof(proofs[1], jkt: Sample.jkt),
            .proof(proofs[2] + "x", jkt: install.jkt), .token("tb_canary-revoked"),
            .token("canary-unknown"), .token(token) { $0.body = "{\"x\":\"canary-unknown\"" },
            .token(token) { $0.audience = "canary-unknown" },
            .token(token) { $0.set("Authorization", "Basic canary-unknown") },
            .token(token) { $0.set("Content-Type", "canary-unknown") },
        ] {
            let response = try await broker.send(call)
            if response.status == 200 {
                canaries.append(try #require(try response.json()["client_assertion"]?.string))
            } else {
                refusals += response.text + response.headers.map { "\($0)" }.joined()
            }
        }
        let assertions = canaries.filter { $0.hasPrefix("ey") && $0.contains(".") }
        #expect(assertions.count == 2)
        canaries += assertions.flatMap { $0.split(separator: ".").suffix(2).map(String.init) }
        canaries += String(decoding: try key.pkcs8PEM(), as: UTF8.self).split(separator: "\n").map(
            String.init)
        let log = try await broker.log.text()
        for canary in canaries {
            #expect(!log.contains(canary), "in the log: \(canary)")
            #expect(!refusals.contains(canary), "in a refusal: \(canary)")
        }
    }

    /// cases.md "Log forging".
    @Test(arguments: [
        "a\\r\\n{\\\"event\\\":\\\"assertion.minted\\\"}", "a\\u0085b", "a\\u2028b", "\\u001b[2J",
        "a\\\"b", "a\\\\b", String(repeating: "x", count: 3000), "é", "\\ud83d\\ude00", "\\u0000",
    ])
    func `a client id cannot forge a line`(text: String) async throws {
        let broker = try await TestBroker(try MintRouteTests.directory())
        _ = try await broker.send(
            .token(MintRouteTests.token) { $0.body = MintRequestTests.body(client: "\"\(text)\"") })
        let lines = try await broker.log.lines()
        #expect(lines.count == 1)
        #expect(lines[0].utf8.count < 1500)
        #expect(lines[0].utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f })
        try await LogSchema.check(lines)
    }

    @Test func `fields with octets of any kind cannot forge a line`() async throws {
        let broker = try await TestBroker(try MintRouteTests.directory())
        for octets in [
            [0xff, 0xfe], [0x1b, 0x5b, 0x32, 0x4a], [0xc2, 0x85], [0xe2, 0x80, 0xa8], [0x22, 0x5c],
        ] as [[UInt8]] {
            let connection = try WireConnection(port: broker.port)
            let field = { (name: String) in Array("\r\n\(name): ".utf8) + octets }
            try await connection.send(
                Array("POST /v1/assertions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0".utf8)
                    + field("traceparent") + field("Authorization") + field("X-Forwarded-For")
                    + Array("\r\n\r\n".utf8))
            #expect(try await connection.response().status >= 400)
        }
        let lines = try await broker.log.lines()
        #expect(lines.count == 5)
        #expect(lines.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f } })
        try await LogSchema.check(lines)
    }

    @Test func `a message the server refuses leaves one line too`() async throws {
        let broker = try await TestBroker(try MintRouteTests.directory())
        for text in [
            "GET /%0d%0a HTTP/9.9\r\n\r\n", "POST /v1/assertions HTTP/1.1\r\n\r\n",
            "POST /v1/assertions HTTP/1.1\r\nHost: localhost\r\nContent-Length: +5\r\n\r\n",
            "POST /v1/assertions HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n",
        ] {
            let connection = try WireConnection(port: broker.port)
            try await connection.send(text)
            let response = try await connection.response()
            #expect(response.status >= 400)
            #expect(response.first("content-type") == "application/problem+json")
            #expect(try response.json()["status"]?.integer == Int64(response.status))
        }
        let events = try await broker.log.events("http.refused")
        #expect(events.count == 4)
        #expect(events.allSatisfy { $0["remote"]?.string == "127.0.0.1" })
        try await LogSchema.check(try await broker.log.lines())
    }

    @Test func `with a log that stands still nothing is issued`() async throws {
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        let log = EventLog(descriptor: full, capacity: 1000)
        let broker = try await TestBroker(try MintRouteTests.directory(), writingTo: log)
        while !log.isStalled { log.write("test", at: 0) { _ in } }
        let response = try await broker.send(.token(MintRouteTests.token))
        #expect(response.code == "unavailable")
        #expect(broker.database.jtis.isEmpty)
        #expect(try await broker.send("GET", "/healthz").status == 200)
    }
}
