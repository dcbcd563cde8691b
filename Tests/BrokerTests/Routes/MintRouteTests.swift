import AssertionMint
import JOSE
import SocketServer
import Testing

@testable import Broker

/// `POST /v1/assertions` over real sockets: what is minted.
@Suite struct MintRouteTests {
    static let token = "tb_good"

    /// Clients of every kind of gate, and another tenant's.
    static func directory(revision: Int64 = 0, blocks: [Block] = []) throws -> Directory {
        try Sample.directory(
            revision: revision,
            [
                Sample.client("app", settings: try Sample.settings()),
                Sample.client("app-ps", settings: try Sample.settings(alg: "PS256")),
                Sample.client(
                    "backend-only", settings: try Sample.settings(gates: "[\"backend_token\"]")),
                Sample.client("proof-only", settings: try Sample.settings(gates: "[\"dpop\"]")),
                Sample.client(
                    "both", settings: try Sample.settings(gates: "[[\"backend_token\",\"dpop\"]]")),
                Sample.client("rivals", tenant: "rival", settings: try Sample.settings()),
            ],
            tokens: [
                Sample.token(token), Sample.token("tb_revoked", isRevoked: true),
                Sample.token("tb_expired", expiresAt: 1_700_000_000),
                Sample.token("tb_scopeless", scopes: []),
                Sample.token("tb_rival", tenant: "rival"),
            ], blocks: blocks)
    }

    static func claims(_ response: WireResponse) throws -> (jws: CompactJWS, claims: JSONValue) {
        let text = try #require(try response.json()["client_assertion"]?.string)
        let jws = try CompactJWS(parsing: text.utf8)
        return (jws, try jws.claims())
    }

    @Test(arguments: ["app", "app-ps"])
    func `a mint answers with an assertion that the published key verifies`(client: String)
        async throws
    {
        let directory = try Self.directory()
        let broker = try await TestBroker(directory)
        let response = try await broker.send(.token(Self.token) { $0.clientId = client })
        #expect(response.status == 200)
        #expect(response.first("content-type") == "application/json")
        #expect(response.first("cache-control") == "no-store")
        #expect(response.all("dpop-nonce").isEmpty)
        let body = try response.json()
        #expect(
            Set((body.members ?? []).map(\.name)) == [
                "client_assertion", "client_assertion_type", "jti", "expires_in", "expires_at",
            ])
        #expect(
            body["client_assertion_type"]?.string
                == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
        let (jws, claims) = try Self.claims(response)
        let keys = try await broker.send("GET", "/v1/clients/\(client)/jwks.json").json()
        let jwk = try #require(JWKSet(keys).keys.first { $0.kid == jws.kid })
        #expect(jws.isSigned(by: try PublicKey(jwk)))
        #expect(jws.type == "client-authentication+jwt")
        #expect(
            Set((claims.members ?? []).map(\.name)) == [
                "iss", "sub", "aud", "jti", "iat", "exp", "cnf",
            ])
        #expect(claims["iss"]?.string == client && claims["sub"]?.string == client)
        #expect(claims["cnf"]?["jkt"]?.string == Sample.jkt)
        #expect(claims["jti"]?.string == body["jti"]?.string)
        #expect(claims["exp"]?.integer == body["expires_at"]?.integer)
        let (iat, exp) = (
            try #require(claims["iat"]?.integer), try #require(claims["exp"]?.integer)
        )
        #expect(exp - iat == 60)
        #expect(broker.database.jtis.contains(try #require(body["jti"]?.string)))
    }

    @Test func `a mint by proof proves the install and hands out the next nonce`() async throws {
        let broker = try await TestBroker(try Self.directory())
        let install = try Install()
        let response = try await broker.send(.proof(try broker.proof(install), jkt: install.jkt))
        #expect(response.status == 200)
        #expect(response.all("dpop-nonce").count == 1)
        let event = try #require(try await broker.log.events("assertion.minted").first)
        #expect(event["jkt_proven"]?.bool == true)
        #expect(event["gate"]?.string == "dpop")
        #expect(event["token_id"] == nil)
    }

    @Test func `an install may prove itself with RSA`() async throws {
        let broker = try await TestBroker(try Self.directory())
        let install = try Install(.PS256)
        let response = try await broker.send(.proof(try broker.proof(install), jkt: install.jkt))
        #expect(response.status == 200)
    }

    @Test func `a gate of two parts takes both together and neither alone`() async throws {
        let broker = try await TestBroker(try Self.directory())
        let install = try Install()
        var call = MintCall.proof(try broker.proof(install), jkt: install.jkt) {
            $0.clientId = "both"
        }
        #expect(try await broker.send(call).code == "caller_unauthenticated")
        call.set("DPoP", try broker.proof(install))
        call.set("Authorization", "Bearer \(Self.token)")
        #expect(try await broker.send(call).status == 200)
        call.set("DPoP", nil)
        #expect(try await broker.send(call).code == "caller_not_allowed")
        let event = try #require(try await broker.log.events("assertion.minted").first)
        #expect(event["gate"]?.string == "backend_token+dpop")
    }

    @Test func `repeated requests get assertions of their own`() async throws {
        let broker = try await TestBroker(try Self.directory())
        let connection = try WireConnection(port: broker.port)
        var jtis: Set<String> = []
        for _ in 0..<20 {
            try await connection.send(MintCall.token(Self.token).octets)
            jtis.insert(try #require(try await connection.response().json()["jti"]?.string))
        }
        #expect(jtis.count == 20)
        #expect(broker.database.jtis == jtis)
    }

    @Test func `RateLimit tells what is left of the install's limit`() async throws {
        let settings = try Sample.settings(
            "\"limits\":{\"install\":{\"burst\":3,\"rate\":1,\"per\":3600}}")
        let broker = try await TestBroker(
            try Sample.directory(
                [Sample.client(settings: settings)], tokens: [Sample.token(Self.token)]))
        for remaining in [2, 1, 0] {
            let response = try await broker.send(.token(Self.token))
            #expect(response.all("ratelimit-policy") == ["\"install\";q=3;w=10800"])
            let field = try #require(response.first("ratelimit"))
            #expect(field.hasPrefix("\"install\";r=\(remaining);t="), "\(field)")
        }
        let refused = try await broker.send(.token(Self.token))
        #expect(refused.status == 429)
        #expect(refused.code == "rate_limited")
        let wait = try #require(refused.first("retry-after").flatMap { Int64($0) })
        #expect((1...3600).contains(wait))
        #expect(refused.first("ratelimit") == "\"install\";r=0;t=\(wait)")
        #expect(refused.first("ratelimit-policy") == "\"install\";q=3;w=10800")
        #expect(broker.database.jtis.count == 3)
        let event = try #require(try await broker.log.events("assertion.refused").first)
        #expect(event["policy"]?.string == "install")
        #expect(event["retry_after"]?.integer == wait)
    }
}
