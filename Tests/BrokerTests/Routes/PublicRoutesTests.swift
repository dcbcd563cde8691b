import AssertionMint
import JOSE
import Testing

@testable import Broker

/// The calls that need no credential.
@Suite struct PublicRoutesTests {
    func broker(
        readiness: @escaping @Sendable () async -> ReadinessReport = { ReadinessReport(parts: []) }
    ) async throws -> TestBroker {
        try await TestBroker(
            try Sample.directory([
                Sample.client("app", settings: try Sample.settings()),
                Sample.client("https://app.example/x", settings: try Sample.settings(alg: "PS256")),
            ]), readiness: readiness)
    }

    @Test func `a key set may be cached and holds nothing private`() async throws {
        let broker = try await broker()
        for path in ["app", "https:%2F%2Fapp.example%2Fx"] {
            let response = try await broker.send("GET", "/v1/clients/\(path)/jwks.json")
            #expect(response.status == 200)
            #expect(response.first("content-type") == "application/jwk-set+json")
            #expect(response.first("cache-control") == "public, max-age=300")
            let keys = try #require(try response.json()["keys"]?.array)
            #expect(keys.count == 1)
            let names = Set((keys[0].members ?? []).map(\.name))
            #expect(names.isSubset(of: ["kty", "crv", "x", "y", "n", "e", "kid", "use", "alg"]))
            #expect(keys[0]["use"]?.string == "sig")
        }
    }

    @Test func `a key set that did not change is 304 (RFC 9110 §13.1.2)`() async throws {
        let broker = try await broker()
        let path = "/v1/clients/app/jwks.json"
        let etag = try #require(try await broker.send("GET", path).first("etag"))
        for match in [etag, "W/\(etag)", "\"other\", \(etag)", "*", "\"a\" ,W/\(etag)"] {
            let response = try await broker.send("GET", path, ["If-None-Match: \(match)"])
            #expect(response.status == 304, "\(match)")
            #expect(response.first("etag") == etag)
            #expect(response.first("cache-control") == "public, max-age=300")
            // It has no content, so it tells neither length nor type (RFC 9110 §8.6, §15.4.5).
            #expect(response.first("content-length") == nil)
            #expect(response.first("content-type") == nil)
        }
        let twoFields = try await broker.send(
            "GET", path, ["If-None-Match: \"x\"", "If-None-Match: \(etag)"])
        #expect(twoFields.status == 304)
        for miss in ["\"other\"", etag.dropFirst() + "x", "W/\"other\"", "", "\(etag.dropLast())"] {
            #expect(
                try await broker.send("GET", path, ["If-None-Match: \(miss)"]).status == 200,
                "\(miss)")
        }
    }

    @Test(arguments: ["/healthz", "/readyz", "/v1/clients/app/jwks.json"])
    func `HEAD answers as GET does, without the body (RFC 9110 §9.3.2)`(path: String) async throws {
        let broker = try await broker()
        let connection = try WireConnection(port: broker.port)
        let head = "HTTP/1.1\r\nHost: localhost\r\n\r\n"
        try await connection.send("HEAD \(path) \(head)")
        let response = try await connection.response(hasBody: false)
        // What follows on the connection is the next answer, so no body came.
        try await connection.send("GET \(path) \(head)")
        let get = try await connection.response()
        #expect(response.status == 200)
        #expect(response.first("content-length") == get.first("content-length"))
        #expect(!get.body.isEmpty)
    }

    @Test func `an unknown client has no key set`() async throws {
        let response = try await broker().send("GET", "/v1/clients/nobody/jwks.json")
        #expect(response.status == 404)
        #expect(response.code == "not_found")
    }

    @Test(arguments: ["POST", "PUT", "DELETE"])
    func `only GET and HEAD are had`(method: String) async throws {
        let broker = try await broker()
        for path in ["/healthz", "/readyz", "/v1/clients/app/jwks.json"] {
            let response = try await broker.send(method, path, ["Content-Length: 0"])
            #expect(response.status == 405)
            #expect(response.first("allow") == "GET, HEAD")
        }
    }

    @Test func `a body where none is wanted is 413`() async throws {
        let broker = try await broker()
        let connection = try WireConnection(port: broker.port)
        try await connection.send(
            "GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx")
        #expect(try await connection.response().status == 413)
    }

    @Test func `liveness does not wait for readiness`() async throws {
        let gate = Gatekeeper()
        let broker = try await broker {
            await gate.wait()
            return ReadinessReport(parts: [])
        }
        async let unanswered = broker.send("GET", "/readyz")
        let response = try await broker.send("GET", "/healthz")
        #expect(response.status == 200)
        #expect(response.first("cache-control") == "no-store")
        #expect(try response.json()["status"]?.string == "alive")
        await gate.open()
        #expect(try await unanswered.status == 200)
    }

    @Test func `readiness names each part and says 503 with Retry-After`() async throws {
        let broker = try await broker {
            ReadinessReport(parts: [
                .init(name: "database", fault: "unreachable"), .init(name: "keys", fault: nil),
            ])
        }
        let response = try await broker.send("GET", "/readyz")
        #expect(response.status == 503)
        #expect(response.first("retry-after") == "1")
        #expect(
            response.text
                == "{\"status\":\"unready\",\"checks\":{\"database\":\"unreachable\",\"keys\":\"ok\"}}"
        )
    }
}

/// Lets nobody through until it is opened.
actor Gatekeeper {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func wait() async {
        guard !isOpen else { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    func open() {
        isOpen = true
        waiting.forEach { $0.resume() }
        waiting = []
    }
}
