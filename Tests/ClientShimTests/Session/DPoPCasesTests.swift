import JOSE
import TestKit
import Testing

@testable import ClientShim

/// `cases.md`, group *dpop*: what no other suite shows of it.
@Suite struct DPoPCasesTests {
    private static func challenge(_ error: String, nonce: String? = nil) -> HTTPAnswer {
        HTTPAnswer(
            status: 401,
            headers: [HTTPHeader("WWW-Authenticate", #"DPoP error="\#(error)""#)]
                + (nonce.map { [HTTPHeader("DPoP-Nonce", $0)] } ?? []))
    }

    /// cases.md "Htu form": what is signed is what goes on the wire.
    @Test(
        arguments: Wire.allCases,
        [
            "", "/", "?x=1", "/a/b/?x=1#f", "/A%2fb", "/%7Euser", "/a//b/", "/a;b=c/d@e:f",
            "/a.b/..c",
        ])
    func `htu names the resource that the server was asked for, and htm the method`(
        _ wire: Wire, _ path: String
    ) async throws {
        let peer = try TLSPeer(try await Wire.certificate.value)
        let world = try await World.signedIn()
        var environment = world.environment
        environment.transport = try await wire.transport()
        let authn = try Authn(environment: environment)
        _ = try await DPoPHTTP(authn).data(
            for: HTTPRequest(method: "PATCH", url: peer.url + path))
        let seen = try #require(peer.requests.all.first)
        let claims = try #require(TLSAPI.claims(ofProof: seen.all("dpop").first))
        #expect(claims["htu"]?.string == peer.url + seen.path)
        #expect(claims["htm"]?.string == seen.method)
        #expect(seen.method == "PATCH")
        await peer.stop()
    }

    /// cases.md "Htu form". `CurlTransport` sends such a path as it is, which HTTPClientTests shows.
    @Test(arguments: ["/a/./b", "/a/../b", "/..", "/a/%2E%2e/b", "/a/.?x"])
    func `URLSession, which would shorten a path under its proof, does not send it`(
        _ path: String
    ) async throws {
        let peer = try TLSPeer(try await Wire.certificate.value)
        let request = HTTPRequest(method: "GET", url: peer.url + path)
        let outcome = try await Wire.urlSession.transport().send(request)
        #expect(outcome == .unsent(.invalidRequest))
        #expect(peer.requests.all.isEmpty)
        await peer.stop()
    }

    /// cases.md "Fresh proof for each attempt".
    @Test
    func
        `R-100-31 after a nonce, a refresh, a lost answer and the caller's own repeat each attempt has a new proof`()
        async throws
    {
        let world = try await World.signedIn()
        let transport = HeldTransport(world.environment.transport)
        var environment = world.environment
        environment.transport = transport
        let authn = try Authn(environment: environment)
        authn.setClientAssertionProvider(FakeAssertions())
        let request = HTTPRequest(method: "POST", url: World.api, body: .bytes([1]))
        world.provider.set {
            $0.apiAnswers = [
                Self.challenge("use_dpop_nonce", nonce: "n1"), Self.challenge("invalid_token"),
            ]
        }
        #expect(try await DPoPHTTP(authn).data(for: request).status == 200)
        transport.loseAnswer { $0.url == World.api }
        await #expect(throws: DPoPHTTPError.connectionLost) {
            try await DPoPHTTP(authn).data(for: request)
        }
        #expect(try await DPoPHTTP(authn).data(for: request).status == 200)
        let sent = world.apiRequests
        #expect(sent.count == 5)
        #expect(Set(sent.compactMap { $0.proofClaims?["jti"]?.string }).count == 5)
        let tokens = sent.map { String($0.header("Authorization")[0].dropFirst("DPoP ".count)) }
        #expect(tokens[0] == tokens[1] && tokens[1] != tokens[2])
        #expect(tokens[2] == tokens[3] && tokens[3] == tokens[4])
        for (request, token) in zip(sent, tokens) {
            let header = try #require(UnverifiedJWT(request.header("DPoP")[0])?.header)
            #expect(header["typ"]?.string == "dpop+jwt")
            #expect(
                header["jwk"]?.members.map { Set($0.map(\.name)) } == ["kty", "crv", "x", "y"])
            let claims = try #require(request.proofClaims)
            #expect(claims["ath"]?.string == DPoPProof.accessTokenHash(token))
            #expect(claims["iat"]?.integer == world.clock.now())
        }
        #expect(sent.map { $0.proofClaims?["nonce"]?.string } == [nil, "n1", "n1", "n1", "n1"])
        let log = try #require(world.environment.transport as? ScriptedTransport)
        let toTheTokenEndpoint = log.requests.filter { $0.url.hasSuffix("/token") }
        #expect(toTheTokenEndpoint.count == 2)
        #expect(toTheTokenEndpoint.allSatisfy { $0.proofClaims.map { $0["ath"] == nil } == true })
    }

    /// cases.md "Scheme case and doubled headers".
    @Test(arguments: [#""dpop""#, #""DPOP""#, #""dPoP""#])
    func `any letter case of DPoP is DPoP, and the header says DPoP`(_ type: String) async throws {
        let world = try await World.signedIn(tokenResponse: ["token_type": type])
        _ = try await world.get()
        #expect(world.apiRequests[0].header("Authorization")[0].hasPrefix("DPoP "))
    }

    /// cases.md "Scheme case and doubled headers".
    @Test(arguments: [#""Bearer""#, "absent", #""""#, "null", "7", #""DPoP ""#])
    func `a token that is not said to be bound is an error, never a silent downgrade`(
        _ type: String
    ) async throws {
        let world = try await World()
        world.provider.set { $0.tokenResponse = ["token_type": type] }
        let states = await world.signIn(with: FakeAssertions())
        #expect(states.session == nil)
        #expect(try world.record == nil)
        _ = try await world.get()
        #expect(world.apiRequests[0].header("Authorization").isEmpty)
    }

    /// cases.md "Nonce kept by origin".
    @Test func `nonces are not kept over a restart`() async throws {
        let world = try await World.signedIn()
        world.provider.set { $0.apiAnswers = [Self.challenge("use_dpop_nonce", nonce: "n1")] }
        _ = try await world.get()
        #expect(world.apiRequests[1].proofClaims?["nonce"]?.string == "n1")
        let http = DPoPHTTP(try world.restarted())
        _ = try await http.data(for: HTTPRequest(method: "GET", url: World.api))
        #expect(world.apiRequests[2].proofClaims.map { $0["nonce"] == nil } == true)
    }
}
