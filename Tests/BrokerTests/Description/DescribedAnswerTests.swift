import JOSE
import TestKit
import Testing

@testable import Broker

/// What the broker answers is what `docs/openapi.json` allows, judged by Python's jsonschema.
@Suite struct DescribedAnswerTests {
    static let token = "tb_good"

    private func directory(blocks: [Block] = []) throws -> Directory {
        try Sample.directory(
            [
                Sample.client("app", settings: try Sample.settings()),
                Sample.client("app-ps", settings: try Sample.settings(alg: "PS256")),
                Sample.client("proof-only", settings: try Sample.settings(gates: "[\"dpop\"]")),
                Sample.client("rivals", tenant: "rival", settings: try Sample.settings()),
            ],
            tokens: [
                Sample.token(Self.token), Sample.token("tb_consume", scopes: [.consume]),
            ], blocks: blocks)
    }

    private func faults(_ records: [AnswerRecord]) async throws -> [String?] {
        try await Oracle.ask("openapi_answers.py", records.map(\.line)).map { $0["fault"]?.string }
    }

    private func ask(_ broker: TestBroker, _ requestLine: String, _ rest: String = "") async throws
        -> AnswerRecord
    {
        let connection = try WireConnection(port: broker.port)
        try await connection.send("\(requestLine)\r\nHost: localhost\r\n\(rest)\r\n")
        let response = try await connection.response(hasBody: !requestLine.hasPrefix("HEAD"))
        return try #require(AnswerRecord(requestLine: requestLine, response: response))
    }

    private func mint(_ broker: TestBroker, _ call: MintCall) async throws -> AnswerRecord {
        try #require(
            AnswerRecord(
                requestLine: "POST \(Route.mint(call.kind).pattern.rawValue) HTTP/1.1",
                response: try await broker.send(call)))
    }

    private func consume(_ broker: TestBroker, _ call: ConsumeCall) async throws -> AnswerRecord {
        try #require(
            AnswerRecord(
                requestLine: "POST /v1/assertions/consume HTTP/1.1",
                response: try await broker.send(call)))
    }

    /// Checks the answers with the judge, and their statuses with what was wanted.
    private func expect(_ wanted: [(Int, AnswerRecord)]) async throws {
        #expect(wanted.map { $0.1.response.status } == wanted.map(\.0))
        for fault in try await faults(wanted.map(\.1)) { #expect(fault == nil) }
    }

    @Test func `mints and their refusals`() async throws {
        let install = try Install()
        let blocked = try Install()
        let block = try Block(jkt: #require(DpopJkt(blocked.jkt)), client: Sample.clientId())
        let broker = try await TestBroker(try directory(blocks: [block]))
        let token = MintCall.token(Self.token)
        let proof = try broker.proof(install)
        let unchallenged = try broker.proof(install) { $0.nonce = nil }
        let spoilt = try broker.proof(install) { $0.htm = "GET" }
        try await expect([
            (200, mint(broker, token)),
            (200, mint(broker, .token(Self.token) { $0.clientId = "app-ps" })),
            (200, mint(broker, .proof(proof, jkt: install.jkt))),
            (401, mint(broker, .proof(proof, jkt: install.jkt))),
            (401, mint(broker, .proof(unchallenged, jkt: install.jkt))),
            (401, mint(broker, .proof(spoilt, jkt: install.jkt))),
            (400, mint(broker, .token(Self.token) { $0.body = "{" })),
            (400, mint(broker, .token(Self.token) { $0.body = "{\"client_id\": 1}" })),
            (400, mint(broker, .token(Self.token) { $0.audience = "https://other.example" })),
            (401, mint(broker, MintCall())),
            (401, mint(broker, .token("tb_unknown"))),
            (403, mint(broker, .token(Self.token) { $0.clientId = "rivals" })),
            (403, mint(broker, .token(Self.token) { $0.clientId = "proof-only" })),
            (403, mint(broker, .token(Self.token) { $0.dpopJkt = blocked.jkt })),
            (404, mint(broker, .token(Self.token) { $0.clientId = "nobody" })),
            (
                413,
                mint(broker, .token(Self.token) { $0.body = String(repeating: " ", count: 5000) })
            ),
            (415, mint(broker, .token(Self.token) { $0.set("Content-Type", "text/plain") })),
            (415, mint(broker, .token(Self.token) { $0.set("Content-Encoding", "gzip") })),
        ])
    }

    @Test(arguments: TokenKindTests.others)
    func `other tokens and their refusals`(kind: TokenKind) async throws {
        let (install, blocked) = (try Install(), try Install())
        let block = try Block(jkt: #require(DpopJkt(blocked.jkt)), client: Sample.clientId())
        let broker = try await TestBroker(try TokenKindTests.directory(blocks: [block]))
        let policy = RatePolicy(name: "install", burst: 5, stepMicroseconds: 1_000_000)
        let limited = try await TestBroker(
            try TokenKindTests.directory(),
            makeStore: { lane, _ in
                StubStore(lane) { _ in
                    .init(verdict: .limited(policy: policy, retryAfterMicroseconds: 1_000_001))
                }
            })
        let out = try await TestBroker(
            try TokenKindTests.directory(),
            makeStore: { lane, _ in StubStore(lane) { _ in .init(verdict: .unavailable(.closed)) } }
        )
        let proof = MintCall.proof(try broker.proof(install, for: kind), jkt: install.jkt) {
            $0.kind = kind
        }
        let call = { (change: (inout MintCall) -> Void) in
            TokenKindTests.call(kind, of: install, change)
        }
        try await expect([
            (200, mint(broker, call { _ in })), (200, mint(broker, proof)),
            (401, mint(broker, proof)), (401, mint(broker, call { $0.set("Authorization", nil) })),
            (400, mint(broker, call { $0.body = "{}" })),
            (403, mint(broker, call { $0.clientId = "plain" })),
            (403, mint(broker, call { $0.clientId = "rivals" })),
            (403, mint(broker, call { $0.set("Authorization", "Bearer tb_consume") })),
            (403, mint(broker, TokenKindTests.call(kind, of: blocked))),
            (404, mint(broker, call { $0.clientId = "nobody" })),
            (405, ask(broker, "GET \(Route.mint(kind).pattern.rawValue) HTTP/1.1")),
            (413, mint(broker, call { $0.body = String(repeating: " ", count: 5000) })),
            (415, mint(broker, call { $0.set("Content-Type", "application/jwt") })),
            (429, mint(limited, call { _ in })), (503, mint(out, call { _ in })),
        ])
    }

    @Test func `uses and their refusals`() async throws {
        let broker = try await TestBroker(try directory())
        let minted = try await mint(broker, .token(Self.token))
        let assertion = try #require(
            try minted.response.json()["client_assertion"]?.string)
        let good = ConsumeCall(assertion, token: "tb_consume")
        let policy = RatePolicy(name: "refused_assertions", burst: 1, stepMicroseconds: 60_000_000)
        let limited = try await TestBroker(try directory(), checks: VainChecks(policy: policy))
        let other = try #require(
            try await mint(limited, .token(Self.token)).response.json()["client_assertion"]?.string)
        let again = ConsumeCall(other, token: "tb_consume")
        let out = try await TestBroker(
            try directory(),
            makeStore: { lane, _ in
                StubStore(lane, uses: { _ in .unavailable(.timedOut) }) { _ in
                    .init(verdict: .recorded(remaining: 1, resetAfterMicroseconds: 0))
                }
            })
        let unburnt = try #require(
            try await mint(out, .token(Self.token)).response.json()["client_assertion"]?.string)
        try await expect([
            (200, consume(broker, good)), (409, consume(broker, good)),
            (400, consume(broker, ConsumeCall("a.b.c", token: "tb_consume"))),
            (400, consume(broker, ConsumeCall("", token: "tb_consume") { $0.body = "{" })),
            (401, consume(broker, ConsumeCall(assertion, token: nil))),
            (401, consume(broker, ConsumeCall(assertion, token: "tb_unknown"))),
            (403, consume(broker, ConsumeCall(assertion, token: Self.token))),
            (403, mint(broker, .token("tb_consume"))),
            (
                413,
                consume(
                    broker,
                    ConsumeCall(String(repeating: "x", count: 11_000), token: "tb_consume"))
            ),
            (
                415,
                consume(
                    broker,
                    ConsumeCall(assertion, token: "tb_consume") {
                        $0.set("Content-Type", "application/jwt")
                    })
            ),
            (200, consume(limited, again)), (409, consume(limited, again)),
            (429, consume(limited, again)),
            (503, consume(out, ConsumeCall(unburnt, token: "tb_consume"))),
        ])
    }

    @Test func `limits and outages`() async throws {
        let policy = RatePolicy(name: "install", burst: 5, stepMicroseconds: 1_000_000)
        let limited = try await TestBroker(
            try directory(),
            makeStore: { lane, _ in
                StubStore(lane) { _ in
                    .init(verdict: .limited(policy: policy, retryAfterMicroseconds: 1_000_001))
                }
            })
        let out = try await TestBroker(
            try directory(),
            readiness: {
                ReadinessReport(parts: [
                    .init(name: "database", fault: "unreachable"), .init(name: "keys", fault: nil),
                ])
            },
            makeStore: { lane, _ in StubStore(lane) { _ in .init(verdict: .unavailable(.closed)) } }
        )
        let empty = try await TestBroker(try directory(), isLoaded: false)
        try await expect([
            (429, mint(limited, .token(Self.token))),
            (503, mint(out, .token(Self.token))),
            (503, ask(out, "GET /readyz HTTP/1.1")),
            (200, ask(out, "GET /healthz HTTP/1.1")),
            (503, mint(empty, .token(Self.token))),
            (503, ask(empty, "GET /v1/clients/app/jwks.json HTTP/1.1")),
        ])
    }

    @Test func `what needs no credential`() async throws {
        let broker = try await TestBroker(try directory())
        var answers: [(Int, AnswerRecord)] = []
        for pattern in RoutePattern.allCases where pattern.methods.contains("GET") {
            let path = pattern.rawValue.replacing("{client_id}", with: "app-ps")
            for method in ["GET", "HEAD"] {
                answers.append((200, try await ask(broker, "\(method) \(path) HTTP/1.1")))
            }
            for method in ["DELETE", "QUERY"] {
                answers.append((405, try await ask(broker, "\(method) \(path) HTTP/1.1")))
            }
        }
        for path in ["/openapi.json", "/v1/clients/app/jwks.json"] {
            answers.append(
                (304, try await ask(broker, "GET \(path) HTTP/1.1", "If-None-Match: *\r\n")))
        }
        answers.append((404, try await ask(broker, "GET /v1/clients/nobody/jwks.json HTTP/1.1")))
        answers.append((404, try await ask(broker, "GET /nothing HTTP/1.1")))
        answers.append((405, try await ask(broker, "GET /v1/assertions HTTP/1.1")))
        answers.append((405, try await ask(broker, "GET /v1/assertions/consume HTTP/1.1")))
        try await expect(answers)
    }

    @Test(arguments: [
        "GET /healthz", "HEAD /v1/clients/app/jwks.json", "POST /v1/assertions",
        "POST /v1/assertions/consume", "POST /v1/transport-tokens", "POST /v1/client-attestations",
    ])
    func `what HTTP refuses before a route is asked`(_ call: String) async throws {
        let broker = try await TestBroker(try directory())
        let wide = String(repeating: "x", count: 9000)
        let long = String(repeating: "X: \(wide)\r\n", count: 2)
        try await expect([
            (400, ask(broker, "\(call) HTTP/1.1", "Host: y\r\n")),
            (
                413,
                ask(
                    broker, "\(call) HTTP/1.1",
                    "Content-Length: 50000\r\n"
                        + (call.hasPrefix("POST")
                            ? "Authorization: Bearer tb_good\r\nContent-Type: application/json\r\n"
                            : ""))
            ),
            (414, ask(broker, "\(call)?\(wide) HTTP/1.1")),
            (417, ask(broker, "\(call) HTTP/1.1", "Expect: a-miracle\r\n")),
            (431, ask(broker, "\(call) HTTP/1.1", long)),
            (501, ask(broker, "\(call) HTTP/1.1", "Transfer-Encoding: brotli\r\n")),
            (505, ask(broker, "\(call) HTTP/2.0")),
        ])
    }

    @Test func `the judge sees each kind of difference`() async throws {
        let broker = try await TestBroker(try directory())
        let good = try await ask(broker, "GET /v1/clients/nobody/jwks.json HTTP/1.1")
        func changed(_ change: (inout (Int, [(String, String)], String)) -> Void) throws
            -> AnswerRecord
        {
            var parts = (
                good.response.status, good.response.headers.map { ($0.name, $0.value) },
                good.response.text
            )
            change(&parts)
            return try #require(
                AnswerRecord(
                    requestLine: "GET /v1/clients/nobody/jwks.json HTTP/1.1",
                    response: WireResponse(
                        status: parts.0, headers: parts.1, body: Array(parts.2.utf8))))
        }
        let broken = [
            try changed { $0.0 = 418 },
            try changed { $0.0 = 200 },
            try changed { $0.1.removeAll { $0.0 == "cache-control" } },
            try changed { $0.1.append(("x-secret", "1")) },
            try changed { $0.1 = $0.1.map { ($0.0, $0.1.replacing("no-store", with: "public")) } },
            try changed {
                $0.1 = $0.1.map { ($0.0, $0.1.replacing("problem+json", with: "json")) }
            },
            try changed { $0.2.replace("not_found", with: "unknown_client") },
            try changed { $0.2.replace("\"status\":404", with: "\"status\":400") },
            try changed { $0.2.replace("\"status\":404", with: "\"status\":404,\"extra\":1") },
            try changed { $0.2.replace("\"status\":404", with: "\"status\":404,\"status\":404") },
            try changed { $0.2.replace("\"code\"", with: "\"kode\"") },
        ]
        #expect(try await faults([good]) == [nil])
        for fault in try await faults(broken) { #expect(fault != nil) }
    }
}
