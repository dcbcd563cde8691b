import JOSE
import Testing

@testable import ClientShim

/// Which nonce the next request carries, read from the requests themselves.
@Suite struct NonceUseTests {
    private let challenge = FakeProvider.error(400, "use_dpop_nonce")

    private func with(_ nonce: String, _ answer: HTTPAnswer) -> FakeProvider.Fault {
        var answer = answer
        answer.headers.append(HTTPHeader("DPoP-Nonce", nonce))
        return .answer(answer)
    }

    /// The nonces of the first calls of the challenge endpoint.
    private func nonces(_ world: World, _ count: Int) throws -> [String?] {
        let transport = try #require(world.environment.transport as? ScriptedTransport)
        return transport.requests.filter { $0.url.hasSuffix("/challenge") }.prefix(count)
            .map { $0.proofClaims?["nonce"]?.string }
    }

    @Test(arguments: [200, 302, 400, 401, 403, 404, 429, 500, 503])
    func `R-100-32 a nonce is taken from an answer of any status and sent next`(
        _ status: Int
    ) async throws {
        let world = try await World()
        world.provider.plan(.start, [with("n", HTTPAnswer(status: status))])
        #expect(await world.signIn().failure != nil)
        _ = await world.signIn()
        #expect(try nonces(world, 2) == [nil, "n"])
    }

    @Test func `R-100-33 the nonce of a second challenge is kept for the next request`()
        async throws
    {
        let world = try await World()
        world.provider.plan(.start, [with("a", challenge), with("b", challenge)])
        #expect(await world.signIn().failure != nil)
        #expect(await world.signIn().session != nil)
        #expect(try nonces(world, 3) == [nil, "a", "b"])
    }

    @Test func `R-100-33 a challenge with the nonce that was sent is not repeated`() async throws {
        let world = try await World()
        world.provider.plan(.start, [with("n", FakeProvider.busy(503)), with("n", challenge)])
        _ = await world.signIn()
        #expect(await world.signIn().failure == .server(message: "answer 400, use_dpop_nonce"))
        #expect(world.provider.count(.start) == 2)
    }

    @Test func `R-100-33 a challenge of another status than 400 is a refusal`() async throws {
        let world = try await World()
        world.provider.plan(.start, [with("n", FakeProvider.error(401, "use_dpop_nonce"))])
        #expect(await world.signIn().failure == .server(message: "answer 401, use_dpop_nonce"))
        #expect(world.provider.count(.start) == 1)
    }

    @Test func `R-100-35 a clock that is a day off is reported, and iat stays the device's`()
        async throws
    {
        let world = try await World()
        world.provider.set { $0.dateOffset = 90_000 }
        #expect(await world.signIn().failure != nil)
        let report = world.diagnostics.events.first { $0.outcome == .clockOffsetTooLarge }
        #expect(report?.step == "clock")
        let transport = try #require(world.environment.transport as? ScriptedTransport)
        let proofs = transport.requests.compactMap { $0.proofClaims?["iat"]?.integer }
        #expect(Set(proofs) == [world.clock.now()])
    }
}
