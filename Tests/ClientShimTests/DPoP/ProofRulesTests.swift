import JOSE
import Testing

@testable import ClientShim

/// What leaves the device with each request, read from the requests themselves.
@Suite struct ProofRulesTests {
    /// Every request of a sign-in, a refresh, an API call, an abort and a sign-out.
    private func requests() async throws -> (world: World, requests: [HTTPRequest]) {
        let world = try await World()
        let transport = try #require(world.environment.transport as? ScriptedTransport)
        world.provider.set { $0.demandsNonce = true }
        let session = try #require(await world.signIn(with: FakeAssertions()).session)
        try await session.refresh()
        _ = try await world.get(World.api + "?page=2#top")
        let flow = world.authn.startSignInFlow(
            config: world.config, clientAssertionProvider: FakeAssertions())
        _ = await world.drive(flow, frames: 0)
        flow.cancel()
        #expect(await eventually { world.provider.aborts.count == 1 })
        await world.authn.signOut()
        return (world, transport.requests.filter { !$0.url.contains("/.well-known/") })
    }

    @Test func `R-100-30 every request carries one whole proof by the install key`() async throws {
        let (world, requests) = try await requests()
        let install = try #require(try world.authn.core.installKeys.current())
        #expect(requests.count >= 9)
        var hasNonce: Set<String> = []
        for request in requests {
            let proofs = request.header("DPoP")
            try #require(proofs.count == 1)
            let jws = try CompactJWS(parsing: proofs[0].utf8)
            let claims = try jws.claims()
            #expect(jws.type == "dpop+jwt")
            #expect(jws.algorithm == .ES256)
            let jwk = try PublicJWK(try #require(jws.header["jwk"]))
            #expect(jwk == install.publicJWK)
            #expect(jws.header["jwk"]?["d"] == nil)
            #expect(jws.isSigned(by: try PublicKey(jwk)))
            #expect(claims["htm"]?.string == request.method)
            #expect(claims["htu"]?.string == String(request.url.prefix { $0 != "?" && $0 != "#" }))
            #expect(claims["iat"]?.integer == world.clock.now())
            #expect(claims["jti"]?.string.flatMap { Base64URL.decode($0) }?.count == 16)
            let origin = try #require(RequestURL(request.url)).origin
            // Once an origin gave a nonce, no request to it goes without one.
            if claims["nonce"]?.string != nil { hasNonce.insert(origin) }
            #expect((claims["nonce"] != nil) == hasNonce.contains(origin))
            let token = request.header("Authorization").first.map { String($0.dropFirst(5)) }
            #expect(claims["ath"]?.string == token.map(DPoPProof.accessTokenHash))
        }
        #expect(requests.contains { !$0.header("Authorization").isEmpty })
        #expect(hasNonce == [World.issuer + ":443"] || hasNonce == [World.issuer])
    }

    @Test func `R-100-31 no proof and no jti is sent twice, whatever is repeated`() async throws {
        let (_, requests) = try await requests()
        let proofs = requests.flatMap { $0.header("DPoP") }
        #expect(Set(proofs).count == proofs.count)
        let identifiers = requests.compactMap { $0.proofClaims?["jti"]?.string }
        #expect(identifiers.count == requests.count)
        #expect(Set(identifiers).count == identifiers.count)
    }

    /// cases.md "Thumbprint input"; what else it names: PublicJWKTests, DpopJktTests and the broker's MintRequestTests.
    @Test func `R-100-36 dpopJkt is the hash of the key's required members, in order`() async throws
    {
        let (world, requests) = try await requests()
        let proof = try #require(requests.first?.header("DPoP").first)
        let jwk = try #require(try CompactJWS(parsing: proof.utf8).header["jwk"])
        let (x, y) = (jwk["x"]?.string ?? "", jwk["y"]?.string ?? "")
        // RFC 7638 §3.3, written out.
        let input = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
        let thumbprint = Base64URL.encode(SHA256.hash(input.utf8))
        #expect(thumbprint.utf8.count == 43)
        let assertions = FakeAssertions()
        _ = await world.signIn(with: assertions)
        #expect(Set(assertions.requests.map(\.dpopJkt)) == [thumbprint])
    }
}
