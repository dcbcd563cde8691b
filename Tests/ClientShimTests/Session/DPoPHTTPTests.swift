import JOSE
import Synchronization
import Testing

@testable import ClientShim

@Suite struct DPoPHTTPTests {
    private static func challenge(_ error: String, nonce: String? = nil) -> HTTPAnswer {
        HTTPAnswer(
            status: 401,
            headers: [HTTPHeader("WWW-Authenticate", #"DPoP error="\#(error)", algs="ES256""#)]
                + (nonce.map { [HTTPHeader("DPoP-Nonce", $0)] } ?? []))
    }

    private func plan(_ world: World, _ answers: [HTTPAnswer]) {
        world.provider.set { $0.apiAnswers = answers }
    }

    @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
    func `R-000-40 every method carries the token and a proof for it`(
        _ method: String
    ) async throws {
        let world = try await World.signedIn()
        let url = World.api + "/b/?x=1#f"
        _ = try await world.http.data(for: HTTPRequest(method: method, url: url))
        let request = try #require(world.apiRequests.first)
        let token = try #require(try world.record).accessToken.expose()
        #expect(request.header("Authorization") == ["DPoP \(token)"])
        let claims = try #require(request.proofClaims)
        #expect(claims["htm"]?.string == method)
        #expect(claims["htu"]?.string == World.api + "/b/")
        #expect(claims["ath"]?.string == Base64URL.encode(SHA256.hash(token.utf8)))
        let header = try #require(UnverifiedJWT(request.header("DPoP")[0])?.header)
        #expect(header["typ"]?.string == "dpop+jwt")
        #expect(header["jwk"]?.members.map { Set($0.map(\.name)) } == ["kty", "crv", "x", "y"])
    }

    @Test func `R-000-41 without a session the request goes out unchanged`() async throws {
        let world = try await World()
        let sent = HTTPRequest(
            method: "GET", url: World.api, headers: [HTTPHeader("authorization", "Basic x")])
        _ = try await world.http.data(for: sent)
        #expect(world.apiRequests[0].headers == sent.headers)
    }

    @Test func `R-100-32, R-100-35 a refusal without a session teaches nonce and clock`()
        async throws
    {
        let world = try await World()
        // An hour before this device's time.
        let date = HTTPHeader("Date", "Fri, 15 Jan 2027 07:00:00 GMT")
        plan(
            world,
            [HTTPAnswer(status: 401, headers: [date, HTTPHeader("DPoP-Nonce", "fresh")])])
        _ = try await world.http.data(for: HTTPRequest(method: "GET", url: World.api))
        let origin = try #require(RequestURL(World.api)).origin
        #expect(world.authn.core.nonces.nonce(for: origin) == "fresh")
        #expect(world.authn.core.offsets.offset(for: origin) == -3600)
    }

    /// cases.md "Scheme case and doubled headers".
    @Test func `exactly one Authorization and one DPoP header leave the device`() async throws {
        let world = try await World.signedIn()
        let request = HTTPRequest(
            method: "GET", url: World.api,
            headers: [
                HTTPHeader("AUTHORIZATION", "Bearer x"), HTTPHeader("dpop", "y"),
                HTTPHeader("DPoP", "z"), HTTPHeader("X-Other", "kept"),
            ])
        _ = try await world.http.data(for: request)
        _ = try await world.http.data(for: request)
        for sent in world.apiRequests {
            #expect(sent.header("Authorization").count == 1)
            #expect(sent.header("DPoP").count == 1)
            #expect(sent.header("X-Other") == ["kept"])
        }
        #expect(world.apiRequests[0].header("DPoP") != world.apiRequests[1].header("DPoP"))
    }

    // MARK: - Bounded repeats

    /// cases.md "Bounded retries": A, B, C, and the token endpoint.
    @Test func `R-000-45 A: an API that always wants another nonce gets two requests`() async throws
    {
        let world = try await World.signedIn()
        let answers = (1...9).map { Self.challenge("use_dpop_nonce", nonce: "n\($0)") }
        plan(world, answers)
        #expect(try await world.get() == answers[1])
        #expect(world.apiRequests.count == 2)
        #expect(world.apiRequests[1].proofClaims?["nonce"]?.string == "n1")
        #expect(world.provider.count(.refresh) == 0)
        // The last nonce is kept for the next call.
        plan(world, [])
        _ = try await world.get()
        #expect(world.apiRequests[2].proofClaims?["nonce"]?.string == "n2")
    }

    @Test func `R-000-46 B: an API that refuses every token gets two requests and one refresh`()
        async throws
    {
        let world = try await World.signedIn()
        plan(world, (1...9).map { _ in Self.challenge("invalid_token") })
        #expect(try await world.get().status == 401)
        #expect(world.apiRequests.count == 2)
        #expect(world.provider.count(.refresh) == 1)
        let tokens = world.apiRequests.map { $0.header("Authorization")[0] }
        #expect(tokens[0] != tokens[1])
        for request in world.apiRequests {
            let token = request.header("Authorization")[0].dropFirst("DPoP ".count)
            #expect(
                request.proofClaims?["ath"]?.string == Base64URL.encode(SHA256.hash(token.utf8)))
        }
    }

    @Test func `R-000-46 C: both in turn end after four requests and one refresh`() async throws {
        let world = try await World.signedIn()
        plan(
            world,
            (1...9).map {
                $0.isMultiple(of: 2)
                    ? Self.challenge("invalid_token")
                    : Self.challenge("use_dpop_nonce", nonce: "n\($0)")
            })
        #expect(try await world.get().status == 401)
        #expect(world.apiRequests.count == 4)
        #expect(world.provider.count(.refresh) == 1)
        let jtis = world.apiRequests.compactMap { $0.proofClaims?["jti"]?.string }
        #expect(Set(jtis).count == 4)
    }

    @Test func `a token endpoint that always wants another nonce gets two requests`() async throws {
        let world = try await World.signedIn()
        world.provider.plan(
            .refresh,
            (1...9).map {
                .answer(
                    FakeProvider.error(400, "use_dpop_nonce", [HTTPHeader("DPoP-Nonce", "n\($0)")]))
            })
        let session = try world.session
        await #expect(throws: RefreshError.Server) { try await session.refresh() }
        #expect(world.provider.count(.refresh) == 2)
    }

    static let untouched: [HTTPAnswer] = [
        challenge("use_dpop_nonce"), challenge("insufficient_user_authentication", nonce: "n"),
        HTTPAnswer(status: 401),
        HTTPAnswer(
            status: 401,
            headers: [
                HTTPHeader("WWW-Authenticate", #"Bearer error="invalid_token""#),
                HTTPHeader("DPoP-Nonce", "n"),
            ]),
        HTTPAnswer(
            status: 403,
            headers: [HTTPHeader("WWW-Authenticate", #"DPoP error="invalid_token""#)]),
        HTTPAnswer(
            status: 401,
            headers: [
                HTTPHeader("WWW-Authenticate", #"DPoP realm="error=\"invalid_token\"""#)
            ]),
        HTTPAnswer(status: 302, headers: [HTTPHeader("Location", "https://other.example/")]),
        HTTPAnswer(status: 307, headers: [HTTPHeader("Location", "/elsewhere")]),
        HTTPAnswer(status: 500),
    ]

    @Test(arguments: untouched.indices)
    func `R-000-47 every other answer is given back untouched, redirects too`(
        _ index: Int
    ) async throws {
        let world = try await World.signedIn()
        plan(world, [Self.untouched[index]])
        #expect(try await world.get() == Self.untouched[index])
        #expect(world.apiRequests.count == 1)
        #expect(world.provider.count(.refresh) == 0)
    }

    @Test func `R-000-45 a nonce the refused proof carried already is not repeated`() async throws {
        let world = try await World.signedIn()
        plan(world, [HTTPAnswer(status: 200, headers: [HTTPHeader("DPoP-Nonce", "n")])])
        _ = try await world.get()
        plan(world, [Self.challenge("use_dpop_nonce", nonce: "n")])
        #expect(try await world.get().status == 401)
        #expect(world.apiRequests.count == 2)
    }

    // MARK: - Bodies

    /// cases.md "One-shot bodies", as the next one; over TLS: NetworkSessionTests.
    @Test(arguments: [0, 1, 5 << 20])
    func `a repeat delivers the same bytes`(_ count: Int) async throws {
        let world = try await World.signedIn()
        plan(world, [Self.challenge("use_dpop_nonce", nonce: "n")])
        let body = [UInt8](repeating: 7, count: count)
        _ = try await world.http.data(
            for: HTTPRequest(method: "PUT", url: World.api, body: .bytes(body)))
        #expect(world.apiRequests.count == 2)
        for request in world.apiRequests {
            guard case .bytes(let sent) = request.body else {
                Issue.record("not the bytes")
                return
            }
            #expect(sent == body)
        }
    }

    @Test(arguments: ["use_dpop_nonce", "invalid_token"])
    func `R-000-45 R-000-46 a one-shot body is never repeated; its nonce is kept`(
        _ error: String
    ) async throws {
        let world = try await World.signedIn()
        plan(world, [Self.challenge(error, nonce: "n")])
        let request = HTTPRequest(method: "POST", url: World.api)
        let answer = try await world.http.upload(request) { nil }
        #expect(answer.status == 401)
        #expect(world.apiRequests.count == 1)
        #expect(world.provider.count(.refresh) == 0)
        _ = try await world.get()
        #expect(world.apiRequests[1].proofClaims?["nonce"]?.string == "n")
    }

    // MARK: - Before the request

    @Test func `R-000-42 an ending token is refreshed first, once for many calls`() async throws {
        let world = try await World.signedIn()
        let old = try #require(try world.record).accessToken.expose()
        world.clock.advance(seconds: 290)
        try await withThrowingTaskGroup(of: HTTPAnswer.self) { group in
            for _ in 0..<20 { group.addTask { try await world.get() } }
            for try await answer in group { #expect(answer.status == 200) }
        }
        #expect(world.provider.count(.refresh) == 1)
        #expect(world.apiRequests.count == 20)
        #expect(world.apiRequests.allSatisfy { $0.header("Authorization") != ["DPoP \(old)"] })
        #expect(world.provider.violations.isEmpty)
    }

    @Test func `R-000-43 an ended session sends the request unauthenticated`() async throws {
        let world = try await World.signedIn()
        world.clock.advance(seconds: 290)
        world.provider.plan(.refresh, [.answer(FakeProvider.error(400, "invalid_grant"))])
        plan(world, [HTTPAnswer(status: 401)])
        #expect(try await world.get().status == 401)
        #expect(world.apiRequests.map { $0.header("Authorization") } == [[]])
    }

    @Test(arguments: [FakeProvider.Fault.loseRequest, .answer(FakeProvider.busy(503))])
    func
        `R-000-44 a failed refresh uses the old token while it lives, and then loses the connection`(
            _ fault: FakeProvider.Fault
        ) async throws
    {
        let world = try await World.signedIn()
        let old = try #require(try world.record).accessToken.expose()
        world.clock.advance(seconds: 290)
        world.provider.plan(.refresh, [fault, fault])
        #expect(try await world.get().status == 200)
        #expect(world.apiRequests.map { $0.header("Authorization") } == [["DPoP \(old)"]])
        world.clock.advance(seconds: 10)
        await #expect(throws: DPoPHTTPError.connectionLost) { try await world.get() }
        #expect(world.apiRequests.count == 1)
        #expect(world.authn.currentSession() != nil)
    }

    // MARK: - Origins

    @Test func `R-000-49 plain http never gets the token`() async throws {
        let world = try await World.signedIn()
        for url in ["http://api.example/accounts", "http://localhost/"] {
            _ = try await world.get(url)
        }
        #expect(world.apiRequests.allSatisfy { $0.header("Authorization").isEmpty })
        #expect(world.apiRequests.allSatisfy { $0.header("DPoP").isEmpty })
    }

    @Test func `R-000-49 with a list only its origins get the token`() async throws {
        let world = try await World.signedIn()
        let http = world.http
        http.allowedOrigins = ["https://api.example"]
        for url in [
            "https://API.example:443/a", "https://api.example:8443/", "https://api.example.evil/",
            "https://api.example@evil.example/",
        ] {
            _ = try await http.data(for: HTTPRequest(method: "GET", url: url))
        }
        #expect(world.apiRequests.map { $0.header("Authorization").count } == [1, 0, 0, 0])
    }

    @Test(arguments: ["", "api.example", "ftp://api.example/", "https://", "https://a b/"])
    func `text that is no URL is refused`(_ url: String) async throws {
        let world = try await World.signedIn()
        await #expect(throws: DPoPHTTPError.invalidURL) { try await world.get(url) }
    }
}
