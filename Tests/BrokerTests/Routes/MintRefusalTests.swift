import JOSE
import SocketServer
import Testing

@testable import Broker

/// Who gets which refusal of `POST /v1/assertions`, over real sockets: by the head, by the credential, by the body.
@Suite struct MintRefusalTests {
    // MARK: Refused by the head

    @Test func `without a credential the body is never asked for`() async throws {
        let broker = try await TestBroker(try MintRouteTests.directory())
        let connection = try WireConnection(port: broker.port)
        try await connection.send(
            "POST /v1/assertions HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                + "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n")
        let response = try await connection.response()
        #expect(response.status == 401)
        #expect(response.code == "caller_unauthenticated")
        #expect(
            response.all("www-authenticate") == [
                "DPoP algs=\"ES256 PS256\"", "Bearer realm=\"broker\"",
            ])
        #expect(try await connection.isClosedByPeer())
    }

    @Test(
        arguments: [
            nil, "text/plain", "application/x-www-form-urlencoded",
            "application/json; charset=latin1",
            "application/jwt",
        ] as [String?])
    func `another type of body is 415 with what is accepted`(type: String?) async throws {
        let broker = try await TestBroker(try MintRouteTests.directory())
        let response = try await broker.send(
            .token(MintRouteTests.token) { $0.set("Content-Type", type) })
        #expect(response.status == 415)
        #expect(response.code == "unsupported_media_type")
        #expect(response.first("accept") == "application/json")
    }

    @Test func `an encoded body is 415`() async throws {
        let broker = try await TestBroker(try MintRouteTests.directory())
        let response = try await broker.send(
            .token(MintRouteTests.token) { $0.set("Content-Encoding", "gzip") })
        #expect(response.code == "unsupported_media_type")
    }

    @Test func `a body above 4 KiB is 413 before it is read, one of 4 KiB is read`() async throws {
        let broker = try await TestBroker(try MintRouteTests.directory())
        let pad = { (length: Int) -> String in
            let body = MintRequestTests.body(audience: "\"\(Sample.issuer)\"")
            return body + String(repeating: " ", count: length - body.utf8.count)
        }
        #expect(
            try await broker.send(.token(MintRouteTests.token) { $0.body = pad(4096) }).status
                == 200)
        let response = try await broker.send(.token(MintRouteTests.token) { $0.body = pad(4097) })
        #expect(response.status == 413)
        #expect(response.code == "content_too_large")
        let chunked = try WireConnection(port: broker.port)
        try await chunked.send(
            "POST /v1/assertions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Authorization: Bearer x\r\nTransfer-Encoding: chunked\r\n\r\n1001\r\n"
                + String(repeating: " ", count: 0x1001) + "\r\n0\r\n\r\n")
        #expect(try await chunked.response().status == 413)
    }

    @Test func `a head above its limit is 431`() async throws {
        let broker = try await TestBroker(try MintRouteTests.directory())
        let response = try await broker.send(
            .token(MintRouteTests.token) { $0.set("X", String(repeating: "x", count: 17_000)) })
        #expect(response.status == 431)
        #expect(response.code == "header_fields_too_large")
    }

    @Test(arguments: ["DPoP", "Authorization", "Content-Type"])
    func `a repeated or listed field is 400 (RFC 9110 §5.3)`(name: String) async throws {
        let broker = try await TestBroker(try MintRouteTests.directory())
        var call = MintCall.token(MintRouteTests.token)
        call.set("DPoP", "a.b.c")
        call.fields.append((name, call.fields.first { $0.name == name }?.value ?? ""))
        let response = try await broker.send(call)
        #expect(response.status == 400)
    }

    @Test func `another method is 405 with Allow, another path 404`() async throws {
        let broker = try await TestBroker(try MintRouteTests.directory())
        for method in ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"] {
            let response = try await broker.send(method, "/v1/assertions")
            #expect(response.status == 405)
            #expect(response.first("allow") == "POST")
        }
        #expect(try await broker.send("GET", "/").code == "not_found")
        #expect(try await broker.send("GET", "/metrics").code == "not_found")
        #expect(try await broker.send("BREW", "/v1/assertions").status == 501)
    }

    // MARK: Refused by the credential

    @Test(arguments: ["app", "rivals", "nobody"])
    func `a good token without the scope is 403, whatever the client, also beside a good proof`(
        client: String
    ) async throws {
        let broker = try await TestBroker(try MintRouteTests.directory())
        let install = try Install()
        let plain = MintCall.token("tb_scopeless") { $0.clientId = client }
        var proven = MintCall.proof(try broker.proof(install), jkt: install.jkt) {
            $0.clientId = client
        }
        proven.set("Authorization", "Bearer tb_scopeless")
        for call in [plain, proven] {
            let response = try await broker.send(call)
            #expect(response.status == 403)
            #expect(response.code == "caller_not_allowed")
            #expect(
                response.all("www-authenticate") == [
                    "Bearer realm=\"broker\", error=\"insufficient_scope\", scope=\"mint\""
                ])
        }
        #expect(broker.database.jtis.isEmpty)
    }

    @Test(arguments: ["tb_unknown", "tb_revoked", "tb_expired"])
    func `a token that is not good is 401, whatever is wrong with it`(token: String) async throws {
        let broker = try await TestBroker(try MintRouteTests.directory())
        let response = try await broker.send(.token(token))
        #expect(response.status == 401)
        #expect(response.code == "caller_unauthenticated")
        #expect(response.all("www-authenticate").count == 2)
        // Not even that the client exists.
        let unknown = try await broker.send(.token(token) { $0.clientId = "nobody" })
        #expect(unknown.code == response.code)
        #expect(broker.database.jtis.isEmpty)
    }

    @Test func `a token's expiry is judged by the broker's clock, to the second`() async throws {
        let broker = try await TestBroker(
            try Sample.directory(
                [Sample.client(settings: try Sample.settings())],
                tokens: [
                    Sample.token("tb_over", expiresAt: WallClock.system.seconds),
                    Sample.token("tb_not_over", expiresAt: WallClock.system.seconds + 3600),
                ]))
        #expect(try await broker.send(.token("tb_over")).code == "caller_unauthenticated")
        #expect(try await broker.send(.token("tb_not_over")).status == 200)
    }

    @Test func `another tenant's token is 403`() async throws {
        let broker = try await TestBroker(try MintRouteTests.directory())
        #expect(try await broker.send(.token("tb_rival")).code == "caller_not_allowed")
        #expect(
            try await broker.send(.token(MintRouteTests.token) { $0.clientId = "rivals" }).code
                == "caller_not_allowed")
    }

    @Test func `a token is no way in to a client that takes proofs only`() async throws {
        let broker = try await TestBroker(try MintRouteTests.directory())
        let response = try await broker.send(
            .token(MintRouteTests.token) { $0.clientId = "proof-only" })
        #expect(response.code == "caller_not_allowed")
    }

    @Test func `an unknown client is 404 to a token's bearer and 401 to anyone else`() async throws
    {
        let broker = try await TestBroker(try MintRouteTests.directory())
        let install = try Install()
        let withToken = try await broker.send(
            .token(MintRouteTests.token) { $0.clientId = "nobody" })
        #expect(withToken.status == 404)
        #expect(withToken.code == "unknown_client")
        let unknown = try await broker.send(
            .proof(try broker.proof(install), jkt: install.jkt) { $0.clientId = "nobody" })
        let closed = try await broker.send(
            .proof(try broker.proof(install), jkt: install.jkt) { $0.clientId = "backend-only" })
        #expect(unknown.status == 401)
        #expect(unknown.code == closed.code && unknown.status == closed.status)
        #expect(unknown.headers.map(\.name) == closed.headers.map(\.name))
    }

    @Test func `a blocked install is 403, by whatever gate`() async throws {
        let install = try Install()
        let jkt = try #require(DpopJkt(install.jkt))
        let broker = try await TestBroker(
            try MintRouteTests.directory(blocks: [
                Block(jkt: jkt, client: try Sample.clientId("app"))
            ]))
        let byProof = try await broker.send(.proof(try broker.proof(install), jkt: install.jkt))
        #expect(byProof.code == "install_blocked")
        let byToken = try await broker.send(
            .token(MintRouteTests.token) { $0.dpopJkt = install.jkt })
        #expect(byToken.code == "install_blocked")
        let other = try await broker.send(
            .token(MintRouteTests.token) {
                $0.dpopJkt = install.jkt
                $0.clientId = "app-ps"
            })
        #expect(other.status == 200)
        let events = try await broker.log.events("assertion.refused")
        #expect(events.map { $0["jkt_proven"]?.bool } == [true, false])
    }

    // MARK: Refused by the body

    @Test(arguments: [
        "", "x", "[]", "{}", "{\"client_id\":\"app\",\"client_id\":\"app\"}",
        MintRequestTests.body(jkt: "\"short\""), MintRequestTests.body(client: "5"),
        String(repeating: "[", count: 4000),
    ])
    func `a body that is not what was asked for is 400 and leaves no row`(body: String) async throws
    {
        let broker = try await TestBroker(try MintRouteTests.directory())
        let response = try await broker.send(.token(MintRouteTests.token) { $0.body = body })
        #expect(response.status == 400)
        #expect(response.code == "invalid_request")
        #expect(broker.database.jtis.isEmpty)
    }

    @Test func `a bad body tells a stranger nothing that a good one would not`() async throws {
        let broker = try await TestBroker(try MintRouteTests.directory())
        let response = try await broker.send(.token("tb_unknown") { $0.body = "x" })
        // What is wrong with the octets is no secret; that they were refused has no effect either.
        #expect([400, 401].contains(response.status))
        #expect(broker.database.jtis.isEmpty)
    }

    /// cases.md "Audience form".
    @Test(arguments: [
        "\"https://idp.example/t1/\"", "\"https://idp.example/t1/token\"",
        "\"https://evil.example\"",
        "[\"https://idp.example/t1\"]", "\"HTTPS://idp.example/t1\"", "\"\"", "null",
        "\"https://idp.example:443/t1\"", "\"https://idp.example/%741\"",
    ])
    func `an audience that is not an issuer character for character is 400`(audience: String)
        async throws
    {
        let broker = try await TestBroker(try MintRouteTests.directory())
        let response = try await broker.send(
            .token(MintRouteTests.token) { $0.body = MintRequestTests.body(audience: audience) })
        #expect(response.status == 400)
        #expect(response.code == "invalid_audience")
        #expect(broker.database.jtis.isEmpty)
        #expect(!response.text.contains("client_assertion"))
    }
}
