import Testing

@testable import ClientShim

/// What becomes of assertions over a whole sign-in, with everything that is sent again, and a sign-out.
@Suite struct AssertionUseTests {
    private func calls(_ world: World) throws -> (forms: [HTTPRequest], portal: [HTTPRequest]) {
        let transport = try #require(world.environment.transport as? ScriptedTransport)
        let posts = transport.requests.filter { $0.method == "POST" }
        return (
            posts.filter { $0.header("Content-Type") == [FormBody.contentType] },
            posts.filter { $0.header("Content-Type") == [DeviceRequest.contentType] }
        )
    }

    @Test
    func
        `R-101-01 R-101-02 R-101-08 each attempt has its own assertion and nothing else to authenticate, and none is kept`()
        async throws
    {
        let world = try await World()
        world.provider.set { $0.demandsNonce = true }
        world.provider.plan(.start, [.loseAnswer])
        world.provider.plan(
            .completion, [.loseAnswer, .loseRequest, .answer(FakeProvider.busy(503))])
        world.provider.plan(.token, [.loseAnswer])
        let assertions = FakeAssertions()
        #expect(await world.signIn(with: assertions, retries: 2).session != nil)
        try await world.session.refresh()
        await world.authn.signOut()
        #expect(world.provider.count(.revocation) == 1)

        let (forms, portal) = try calls(world)
        let sent = forms.map { FakeProvider.form($0)["client_assertion"] }
        #expect(sent == assertions.made)
        #expect(Set(assertions.made).count == assertions.made.count)
        #expect(sent.count >= 10)
        for request in forms {
            let form = FakeProvider.form(request)
            #expect(form["client_id"] == World.clientId)
            #expect(
                form["client_assertion_type"]
                    == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
            #expect(form["client_secret"] == nil)
            #expect(request.header("Authorization") == [])
            #expect(request.maximumAnswerBytes == 1_048_576)  // R-100-26
        }
        #expect(portal.allSatisfy { $0.header("Authorization") == [] })
        for name in try world.store.names(prefix: "") {
            let text = String(decoding: try world.store.read(name) ?? [], as: UTF8.self)
            #expect(!assertions.made.contains { text.contains($0) }, "\(name)")
        }
    }

    @Test func `R-101-05 R-101-06 no assertion for the code: the completion is sent again`()
        async throws
    {
        let world = try await World()
        let states = await world.signIn(with: FakeAssertions(failing: [3]))
        #expect(states.session != nil)
        #expect(world.provider.count(.completion) == 2)
        #expect(world.provider.count(.token) == 1)
        #expect(world.diagnostics.events.contains { $0.outcome == .assertionUnavailable })
        var text = ""
        dump(states, to: &text)
        dump(world.diagnostics.events, to: &text)
        #expect(!text.contains("told so"))
    }

    @Test
    func `R-101-10 a flow's provider is registered when it starts, and not for the next process`()
        async throws
    {
        let world = try await World(enrolled: false)
        let assertions = FakeAssertions()
        _ = await world.signIn(with: assertions)
        #expect(world.authn.core.provider as? FakeAssertions === assertions)
        #expect(try world.restarted().core.provider == nil)
    }
}
