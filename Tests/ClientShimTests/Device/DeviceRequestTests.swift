import JOSE
import Testing

@testable import ClientShim

@Suite struct DeviceRequestTests {
    private func lastPortalRequest(_ world: World, _ suffix: String) throws -> CompactJWS {
        let transport = try #require(world.environment.transport as? ScriptedTransport)
        let request = try #require(transport.requests.last { $0.url.hasSuffix(suffix) })
        guard case .bytes(let body) = request.body else { throw NoBody() }
        #expect(request.header("Content-Type") == ["application/jose"])
        return try CompactJWS(parsing: body)
    }

    private struct NoBody: Error {}

    @Test func `R-100-50 a request that is not repeated lives a minute`() async throws {
        let world = try await World()
        _ = await world.signIn()
        let jws = try lastPortalRequest(world, "/face-token")
        let claims = try jws.claims()
        #expect(jws.kid == world.identity.keyId)
        #expect(jws.header["jwk"] == nil)
        #expect(claims["exp"]?.integer == world.clock.now() + 60)
        #expect(claims["act"]?.string == "face_token")
    }

    @Test func `R-100-50 each request has its own jti and the provider's time`() async throws {
        let world = try await World()
        world.provider.set { $0.dateOffset = 4000 }
        world.provider.plan(.faceToken, [.loseAnswer])
        #expect(await world.signIn().session != nil)
        let transport = try #require(world.environment.transport as? ScriptedTransport)
        let claims = try transport.requests.filter { $0.url.hasSuffix("/face-token") }.map {
            guard case .bytes(let body) = $0.body else { throw NoBody() }
            return try CompactJWS(parsing: body).claims()
        }
        #expect(claims.count == 2)
        #expect(Set(claims.compactMap { $0["jti"]?.string }).count == 2)
        for claims in claims {
            #expect(claims["jti"]?.string.flatMap { Base64URL.decode($0) }?.count == 16)
            #expect(claims["iat"]?.integer == world.clock.now() + 4000)
            #expect(claims["exp"]?.integer == world.clock.now() + 4060)
        }
    }

    @Test func `R-100-51 a completion is signed once and ends with its ceremony`() async throws {
        let world = try await World()
        let end = world.clock.now() + 240
        world.provider.set { $0.faceTokenResponse = ["expires_at": "\(end)"] }
        world.provider.plan(
            .completion, [.loseAnswer, .loseAnswer, .answer(FakeProvider.busy(503))])
        let flow = world.authn.startSignInFlow(config: world.config)
        // Time passes between the attempts; the bytes stay.
        let states = await world.drive(flow, retries: 0)
        #expect(states.parked.count == 1)
        world.clock.advance(seconds: 100)
        flow.retry()
        _ = await world.drive(flow, retries: 1)
        let responses = world.provider.forms(.completion).compactMap { $0["ceremony_response"] }
        #expect(responses.count >= 4)
        #expect(Set(responses).count == 1)
        let claims = try CompactJWS(parsing: try #require(responses.first).utf8).claims()
        #expect(claims["exp"]?.integer == end)
    }

    @Test func `R-100-52 a key nobody knows shows itself in the header and signs`() async throws {
        let world = try await World()
        var config = world.config
        config.loginHint = "stranger@example.test"
        _ = await world.signIn(config)
        let jws = try lastPortalRequest(world, "/face-token")
        #expect(jws.kid == nil)
        let jwk = try PublicJWK(try #require(jws.header["jwk"]))
        #expect(jws.header["jwk"]?["d"] == nil)
        #expect(jws.isSigned(by: try PublicKey(jwk)))
        #expect(try jws.claims()["iss"]?.string == jwk.thumbprint)
        // It tells nothing of the identities that this device has.
        #expect(jwk.thumbprint != world.identity.keyId)
    }

    @Test func `R-100-53 the signed bytes are the same whatever the envelope says`() throws {
        let keys = InMemoryKeyStore()
        let key = try keys.generate(label: "new")
        let signed = try DeviceRequest(
            issuer: World.issuer, sid: "sid", action: .faceToken, issuedAt: 1, expiresAt: 61,
            jti: "jti"
        ).signed(by: keys, label: "new", key: key)
        let envelopes = [
            RegistrationEnvelope(request: signed),
            RegistrationEnvelope(request: signed, attestation: "evidence"),
            RegistrationEnvelope(
                request: signed, attestation: "other", confirmsReplacement: true),
        ]
        let documents = try envelopes.map { try JSONValue(parsing: $0.bytes) }
        #expect(documents.allSatisfy { $0["request"]?.string == signed.expose() })
        #expect(documents.map { $0["attestation"]?.string } == [nil, "evidence", "other"])
        #expect(documents.map { $0["confirm_replacement"]?.bool } == [nil, nil, true])
    }
}
