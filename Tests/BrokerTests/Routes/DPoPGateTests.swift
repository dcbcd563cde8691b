import JOSE
import SocketServer
import Testing

@testable import Broker

/// The `dpop` gate over real sockets (RFC 9449 §4.3, §8, §9, §11.1): one rule broken at a time.
@Suite struct DPoPGateTests {
    let install: Install

    init() throws { install = try Install() }

    func broker(
        nonces: DPoPNonces? = nil, clock: WallClock = .system
    ) async throws -> TestBroker {
        try await TestBroker(
            try Sample.directory(
                [Sample.client(settings: try Sample.settings(gates: "[\"dpop\"]"))], nonces: nonces),
            clock: clock)
    }

    func mint(
        _ broker: TestBroker, _ change: (inout DPoPProof) -> Void = { _ in }
    ) async throws -> WireResponse {
        try await broker.send(.proof(try broker.proof(install, change), jkt: install.jkt))
    }

    @Test func `the nonce comes with the challenge, and the next try with it succeeds`()
        async throws
    {
        let broker = try await broker()
        let challenged = try await mint(broker) { $0.nonce = nil }
        #expect(challenged.status == 401)
        #expect(challenged.code == "use_dpop_nonce")
        #expect(
            challenged.all("www-authenticate") == [
                "DPoP error=\"use_dpop_nonce\", algs=\"ES256 PS256\""
            ])
        #expect(challenged.first("cache-control") == "no-store")
        let nonce = try #require(challenged.first("dpop-nonce"))
        #expect(challenged.all("dpop-nonce").count == 1)
        #expect(try await mint(broker) { $0.nonce = nonce }.status == 200)
        #expect(broker.database.jtis.count == 1)
    }

    @Test(arguments: ["", "x", "AAAAAAAAAAAAAAAAAAAAAAAA", String(repeating: "A", count: 4000)])
    func `a nonce that is not ours is challenged again`(nonce: String) async throws {
        let broker = try await broker()
        let response = try await mint(broker) { $0.nonce = nonce }
        #expect(response.code == "use_dpop_nonce")
        #expect(response.all("dpop-nonce").count == 1)
    }

    @Test func `a nonce of two minutes ago is too old`() async throws {
        let now = WallClock.system.seconds
        let broker = try await broker(clock: WallClock { now * 1_000_000 })
        let old = try Sample.nonces().current(now: now - 2 * DPoPNonces.slotSeconds)
        #expect(try await mint(broker) { $0.nonce = old }.code == "use_dpop_nonce")
        let last = try Sample.nonces().current(now: now - DPoPNonces.slotSeconds)
        #expect(try await mint(broker) { $0.nonce = last }.status == 200)
    }

    @Test func `while the secret rotates both nonces pass, and the newest is handed out`()
        async throws
    {
        let new = Sample.secret(8, age: 61, now: WallClock.system.seconds)
        let broker = try await broker(nonces: DPoPNonces(secrets: [new, Sample.secret(7)]))
        let byOld = try await mint(broker)
        #expect(byOld.status == 200)
        let handedOut = try #require(byOld.first("dpop-nonce"))
        #expect(
            try #require(DPoPNonces(secrets: [new])).accepts(handedOut, now: broker.clock.seconds))
        #expect(try await mint(broker) { $0.nonce = handedOut }.status == 200)
    }

    @Test func `a proof is good once, and a replay leaves no row`() async throws {
        let broker = try await broker()
        let proof = try broker.proof(install)
        #expect(try await broker.send(.proof(proof, jkt: install.jkt)).status == 200)
        let replayed = try await broker.send(.proof(proof, jkt: install.jkt))
        #expect(replayed.status == 401)
        #expect(replayed.code == "invalid_dpop_proof")
        #expect(replayed.all("dpop-nonce").count == 1)
        #expect(broker.database.jtis.count == 1)
    }

    @Test func `of 32 racing uses of one proof exactly one mints`() async throws {
        let broker = try await broker()
        let call = MintCall.proof(try broker.proof(install), jkt: install.jkt)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<32 { group.addTask { try await broker.send(call).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 200 } == 1)
        #expect(statuses.count { $0 == 401 } == 31)
        #expect(broker.database.jtis.count == 1)
    }

    @Test(arguments: [-61, 11, -100_000, 100_000] as [Int64])
    func `a proof from outside the window is refused`(offset: Int64) async throws {
        let now = WallClock.system.seconds
        let broker = try await broker(clock: WallClock { now * 1_000_000 })
        #expect(try await mint(broker) { $0.iat += offset }.code == "invalid_dpop_proof")
    }

    @Test(arguments: [-60, 10] as [Int64])
    func `a proof at the edge of the window passes`(offset: Int64) async throws {
        let now = WallClock.system.seconds
        let broker = try await broker(clock: WallClock { now * 1_000_000 })
        #expect(try await mint(broker) { $0.iat += offset }.status == 200)
    }

    @Test(arguments: ["GET", "post", "PUT", ""])
    func `a proof for another method is refused`(method: String) async throws {
        let broker = try await broker()
        #expect(try await mint(broker) { $0.htm = method }.code == "invalid_dpop_proof")
    }

    @Test(arguments: [
        "http://broker.example/v1/assertions", "https://broker.example:8443/v1/assertions",
        "https://broker.example/v1/assertions/", "https://broker.example/v1/Assertions",
        "https://localhost/v1/assertions", "https://broker.example/",
        "https://broker.example/v1/clients",
    ])
    func `a proof for another URI is refused, whatever Host says`(uri: String) async throws {
        let broker = try await broker()
        let target = try #require(HTTPTargetURI(uri))
        var call = MintCall.proof(
            try broker.proof(install) { $0.uri = target }, jkt: install.jkt)
        #expect(try await broker.send(call).code == "invalid_dpop_proof")
        call.set("X-Forwarded-Host", "localhost")
        #expect(try await broker.send(call).code == "invalid_dpop_proof")
    }

    @Test(arguments: [
        "HTTPS://Broker.EXAMPLE:443/v1/assertions", "https://broker.example/v1/assertions?x=1#y",
        "https://broker.example/v1/./x/../assertions", "https://broker.example/v1/%61ssertions",
    ])
    func `another spelling of the same URI passes (RFC 9449 §4.3)`(uri: String) async throws {
        let broker = try await broker()
        // As the client would write it, without our own normalisation.
        let proof = try sign(claims(broker, htu: uri))
        #expect(try await broker.send(.proof(proof, jkt: install.jkt)).status == 200)
    }

    /// cases.md "Htu form": the public URL as an operator writes it, the `htu` as a client may.
    @Test(arguments: [
        ("https://API.example:443", "https://api.example/v1/assertions", true),
        ("https://api.example", "https://API.example:443/v1/assertions?x=1#f", true),
        ("https://api.example/", "HTTPS://api.example/v1/assertions", true),
        ("https://api.example", "https://api.example:/v1/assertions", true),
        ("https://api.example:8443/", "https://api.example:8443/v1/assertions", true),
        ("https://[2001:DB8::1]", "https://[2001:db8::1]/v1/assertions", true),
        ("https://[2001:db8::1]:443", "https://[2001:DB8::1]/v1/assertions", true),
        ("https://api.example", "https://api.example/v1//assertions", false),
        ("https://api.example", "https://api.example/v1/assertions/", false),
        ("https://api.example", "https://api.example/v1%2Fassertions", false),
        ("https://api.example", "https://api.example:8443/v1/assertions", false),
        ("https://api.example:8443", "https://api.example/v1/assertions", false),
        ("https://api.example", "http://api.example:443/v1/assertions", false),
        ("https://api.example", "https://user@api.example/v1/assertions", false),
        ("https://api.example", "https://api.example", false),
        ("https://api.example", "https://api.example.evil.example/v1/assertions", false),
        ("https://api.example", "https://api.example@evil.example/v1/assertions", false),
        ("https://api.example", "/v1/assertions", false), ("https://api.example", "", false),
        ("https://api.example", " https://api.example/v1/assertions", false),
        ("https://api.example", "https://api.example/v1/assertions%zz", false),
    ])
    func `htu is compared with the public URL, both normalised (RFC 3986 §6.2)`(
        _ publicURL: String, _ htu: String, _ passes: Bool
    ) throws {
        let configuration = try ServeConfiguration(
            Array(
                "{listen: {address: \"127.0.0.1\", port: 0}, public_url: \"\(publicURL)\"}".utf8),
            cores: 1)
        let uri = try #require(
            HTTPTargetURI(configuration.publicURL.origin + "/v1/assertions"))
        let proof = try sign(
            "{\"jti\":\"j\",\"htm\":\"POST\",\"htu\":\"\(htu)\",\"iat\":1700000000}")
        let outcome = Result {
            try DPoPVerifier().verify(
                proof, method: "POST", uri: uri, now: 1_700_000_000, acceptsNonce: { _ in true })
        }
        #expect(((try? outcome.get()) != nil) == passes)
        if case .failure(let error) = outcome { #expect(error as? DPoPError == .uri) }
    }

    @Test(arguments: [
        "{\"typ\":\"JWT\",\"alg\":\"ES256\",\"jwk\":JWK}", "{\"alg\":\"ES256\",\"jwk\":JWK}",
        "{\"typ\":\"dpop+jwt\",\"alg\":\"none\",\"jwk\":JWK}",
        "{\"typ\":\"dpop+jwt\",\"alg\":\"HS256\",\"jwk\":JWK}",
        "{\"typ\":\"dpop+jwt\",\"alg\":\"PS256\",\"jwk\":JWK}",
        "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\"}",
        "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":{}}",
        "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":JWK,\"crit\":[\"exp\"]}",
        "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":JWK,\"x5u\":\"https://evil.example\"}",
        "{\"typ\":\"dpop+jwt\",\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":JWK}", "[]", "",
    ])
    func `a proof with another header is refused`(header: String) async throws {
        let broker = try await broker()
        let proof = try sign(claims(broker), header: header)
        let response = try await broker.send(.proof(proof, jkt: install.jkt))
        #expect(response.status == 401)
        #expect(response.code == "invalid_dpop_proof")
    }

    @Test func `a proof whose header carries the private key is refused`() async throws {
        let broker = try await broker()
        let jwk =
            install.key.publicJWK.jsonText(asSigningKey: false).dropLast() + ",\"d\":\"AAAA\"}"
        let proof = try sign(
            claims(broker), header: "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":\(jwk)}")
        #expect(
            try await broker.send(.proof(proof, jkt: install.jkt)).code == "invalid_dpop_proof")
    }

    @Test(arguments: ["jti", "htm", "htu", "iat"])
    func `a proof without one of its claims is refused`(name: String) async throws {
        let broker = try await broker()
        let proof = try sign(claims(broker, without: name))
        #expect(
            try await broker.send(.proof(proof, jkt: install.jkt)).code == "invalid_dpop_proof")
    }

    @Test func `a proof by another key than the header's is refused`() async throws {
        let broker = try await broker()
        let stranger = try Install()
        var proof = DPoPProof(
            htm: "POST", uri: try #require(HTTPTargetURI(TestBroker.mintURL)), jti: "j",
            iat: broker.clock.seconds)
        proof.nonce = try broker.nonce()
        let forged = try proof.compact(jwk: install.key.publicJWK) { (input) throws(KeyError) in
            try stranger.key.sign(input)
        }
        #expect(
            try await broker.send(.proof(forged, jkt: install.jkt)).code == "invalid_dpop_proof")
    }

    @Test(arguments: ["a", "a.b", "a.b.c.d", "....", "not a proof", "a.b.c, d.e.f"])
    func `what is no proof at all is refused`(text: String) async throws {
        let broker = try await broker()
        let response = try await broker.send(.proof(text, jkt: install.jkt))
        #expect([400, 401].contains(response.status))
        #expect(broker.database.jtis.isEmpty)
    }

    /// R-101-24, standards.md §2.5: the thumbprint is computed from the proof; a body that says otherwise is wrong.
    @Test func `a thumbprint that is not the proof's is 400, and its limit is not touched`()
        async throws
    {
        let broker = try await broker()
        let response = try await broker.send(
            .proof(try broker.proof(install), jkt: install.jkt) { $0.dpopJkt = Sample.jkt })
        #expect(response.status == 400)
        #expect(response.code == "invalid_request")
        let event = try #require(try await broker.log.events("assertion.refused").first)
        #expect(event["jkt_proven"]?.bool == false)
        #expect(broker.database.jtis.isEmpty)
    }

    @Test func `a good token does not excuse a bad proof`() async throws {
        let broker = try await TestBroker(
            try Sample.directory(
                [Sample.client(settings: try Sample.settings())], tokens: [Sample.token("t")]))
        let call = MintCall.token("t") {
            $0.dpopJkt = install.jkt
            $0.set("DPoP", "a.b.c")
        }
        #expect(try await broker.send(call).code == "invalid_dpop_proof")
    }

    // MARK: Proofs our own code would not make

    private func claims(
        _ broker: TestBroker, htu: String = TestBroker.mintURL, without name: String = ""
    ) throws -> String {
        var json = JSONWriter()
        let nonce = try broker.nonce()
        json.object {
            if name != "jti" { $0.member("jti", "j-\(UInt64.random(in: 0 ... .max))") }
            if name != "htm" { $0.member("htm", "POST") }
            if name != "htu" { $0.member("htu", htu) }
            if name != "iat" { $0.member("iat", broker.clock.seconds) }
            $0.member("nonce", nonce)
        }
        return json.text
    }

    private func sign(
        _ claims: String, header: String = "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":JWK}"
    ) throws -> String {
        let jwk = install.key.publicJWK.jsonText(asSigningKey: false)
        let parts = header.split(separator: "JWK", omittingEmptySubsequences: false)
        return try JWSBuilder.compact(
            header: Array(parts.joined(separator: jwk).utf8), payload: Array(claims.utf8)
        ) { (input) throws(KeyError) in try install.key.sign(input) }
    }
}
