import Testing

@testable import ClientShim

@Suite struct MetadataCacheTests {
    private func discoveries(_ world: World) throws -> [String] {
        let transport = try #require(world.environment.transport as? ScriptedTransport)
        return transport.requests.map(\.url).filter { $0.contains("/.well-known/") }
    }

    @Test func `R-100-40 a provider with the OAuth document alone is found`() async throws {
        let world = try await World()
        world.provider.plan(.discovery, [.answer(HTTPAnswer(status: 404))])
        #expect(await world.signIn(with: FakeAssertions()).session != nil)
        #expect(
            try discoveries(world) == [
                World.issuer + "/.well-known/openid-configuration",
                World.issuer + "/.well-known/oauth-authorization-server",
            ])
    }

    @Test(arguments: [302, 403, 410, 429, 500, 503])
    func `R-100-40 only a 404 leads to the OAuth document`(_ status: Int) async throws {
        let world = try await World()
        world.provider.plan(.discovery, [.answer(HTTPAnswer(status: status))])
        #expect(await world.signIn().failure != nil)
        #expect(try discoveries(world).count == 1)
        #expect(world.provider.count(.start) == 0)
    }

    @Test(arguments: [
        "https://IDP.example", "HTTPS://idp.example", "https://idp.example:443",
        "https://idp.example ",
    ])
    func `R-100-40 an issuer that differs by a byte is another's`(_ issuer: String) async throws {
        let world = try await World()
        world.provider.set { $0.metadata = ["issuer": "\"\(issuer)\""] }
        #expect(await world.signIn().failure != nil)
        #expect(world.provider.count(.start) == 0)
    }

    @Test func `R-100-42 metadata is asked for again after 600 seconds and not before`()
        async throws
    {
        let world = try await World()
        _ = await world.signIn()
        world.clock.advance(seconds: 599)
        _ = await world.signIn()
        #expect(world.provider.count(.discovery) == 1)
        world.clock.advance(seconds: 1)
        _ = await world.signIn()
        #expect(world.provider.count(.discovery) == 2)
    }

    @Test func `R-100-42 an endpoint that is nowhere is looked up again once`() async throws {
        let world = try await World()
        world.provider.set { $0.metadata["token_endpoint"] = #""https://idp.example/gone""# }
        let flow = world.authn.startSignInFlow(config: world.config)
        let driver = flow.faceCaptureDriver()
        var last: SignInState?
        for await state in flow.stateStream() {
            last = state
            guard case .awaitingFaceCapture = state else { continue }
            world.provider.set { $0.metadata["token_endpoint"] = #""https://idp.example/also""# }
            driver.submitFaceCapture(FaceFrame([1]))
        }
        #expect(last == .failed(reason: .server(message: "answer 404")))
        let transport = try #require(world.environment.transport as? ScriptedTransport)
        let asked = transport.requests.map(\.url).filter {
            $0.hasSuffix("/gone") || $0.hasSuffix("/also")
        }
        #expect(asked == ["https://idp.example/gone", "https://idp.example/also"])
        #expect(world.provider.count(.discovery) == 2)
    }

    @Test func `R-100-42 an endpoint that stays where it was is not asked twice`() async throws {
        let world = try await World()
        world.provider.plan(.start, [.answer(HTTPAnswer(status: 404))])
        #expect(await world.signIn().failure == .server(message: "answer 404"))
        #expect(world.provider.count(.start) == 1)
        #expect(world.provider.count(.discovery) == 2)
    }
}
