import JOSE
import SocketServer
import Testing

@testable import Broker

/// What stands in an assertion, whatever the caller asks for (`design.md` §5).
@Suite struct AssertionContentTests {
    /// cases.md "Issuer normalised", on the raw octets of the payload.
    @Test(arguments: [
        "https://idp.example", "https://idp.example/", "https://idp.example/t1/",
        "https://IDP.example:443/t%2D1",
    ])
    func `aud is the configured issuer, octet for octet`(issuer: String) async throws {
        let broker = try await TestBroker(
            try Sample.directory(
                [Sample.client(settings: try Sample.settings(issuers: [issuer]))],
                tokens: [Sample.token(MintRouteTests.token)]))
        let response = try await broker.send(.token(MintRouteTests.token) { $0.audience = issuer })
        let payload = String(
            decoding: try MintRouteTests.claims(response).jws.payload, as: UTF8.self)
        #expect(payload.contains(",\"aud\":\"\(issuer)\","))
    }

    /// The caller chooses neither times nor algorithm (standards.md §2.5).
    @Test(arguments: ["0", "-1", "1", "61", "3600", "4294967296"])
    func `a lifetime that is asked for changes nothing`(lifetime: String) async throws {
        let broker = try await TestBroker(try MintRouteTests.directory())
        let more =
            ",\"lifetime\":\(lifetime),\"expires_in\":\(lifetime),\"exp\":\(lifetime),\"alg\":\"none\""
        let response = try await broker.send(
            .token(MintRouteTests.token) {
                $0.body = MintRequestTests.body(audience: "\"\(Sample.issuer)\"", more: more)
            })
        let (jws, claims) = try MintRouteTests.claims(response)
        let (iat, exp) = (
            try #require(claims["iat"]?.integer), try #require(claims["exp"]?.integer)
        )
        #expect(exp - iat == 60)
        #expect(jws.algorithm == .ES256)
    }

    /// cases.md "Time claims against skew".
    @Test func `at x·999 s the times are rounded down`() async throws {
        let second = WallClock.system.seconds
        let clock = WallClock { second * 1_000_000 + 999_999 }
        let broker = try await TestBroker(try MintRouteTests.directory(), clock: clock)
        let response = try await broker.send(.token(MintRouteTests.token))
        let claims = try MintRouteTests.claims(response).claims
        #expect(claims["iat"]?.integer == second)
        #expect(claims["exp"]?.integer == second + 60)
        #expect(claims["nbf"] == nil)
        #expect(try response.json()["expires_in"]?.integer == 60)
        let event = try #require(try await broker.log.events("assertion.minted").first)
        #expect(event["ts"]?.string?.hasSuffix(".999999Z") == true)
    }

    @Test func `settings of the client shape its assertions`() async throws {
        let settings = try Sample.settings(
            "\"typ\":\"none\",\"lifetime\":30,\"backdating\":10,\"bind_jkt\":false")
        let now = WallClock.system.seconds
        let broker = try await TestBroker(
            try Sample.directory(
                [Sample.client(settings: settings)], tokens: [Sample.token(MintRouteTests.token)]),
            clock: WallClock { now * 1_000_000 })
        let response = try await broker.send(.token(MintRouteTests.token))
        let (jws, claims) = try MintRouteTests.claims(response)
        #expect(jws.header["typ"] == nil)
        #expect(claims["cnf"] == nil)
        #expect(claims["iat"]?.integer == now - 10)
        #expect(claims["exp"]?.integer == now + 20)
        #expect(try response.json()["expires_in"]?.integer == 20)
    }
}
