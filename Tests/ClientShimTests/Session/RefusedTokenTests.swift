import JOSE
import Testing

@testable import ClientShim

/// What an API's `invalid_token` leads to when there is no second token to try (R-000-46), and what its clock teaches.
@Suite struct RefusedTokenTests {
    private let refused = HTTPAnswer(
        status: 401, headers: [HTTPHeader("WWW-Authenticate", #"DPoP error="invalid_token""#)])

    @Test(
        arguments: [
            FakeProvider.Fault.loseRequest, .answer(FakeProvider.busy(503)),
            .answer(FakeProvider.error(400, "invalid_grant")),
        ])
    func `R-000-46 without a new token the refusal is given back`(
        _ fault: FakeProvider.Fault
    ) async throws {
        let world = try await World.signedIn()
        world.provider.set { $0.apiAnswers = [refused] }
        world.provider.plan(.refresh, [fault])
        #expect(try await world.get() == refused)
        #expect(world.apiRequests.count == 1)
        #expect(world.provider.count(.refresh) == 1)
    }

    @Test func `R-000-46 a session without a refresh token has no second try`() async throws {
        let world = try await World.signedIn(tokenResponse: ["scope": #""openid""#])
        world.provider.set { $0.apiAnswers = [refused] }
        #expect(try await world.get() == refused)
        #expect(world.apiRequests.count == 1)
        #expect(world.provider.count(.refresh) == 0)
    }

    @Test func `R-000-46 a token that was refreshed ahead is not refreshed again`() async throws {
        let world = try await World.signedIn()
        world.clock.advance(seconds: 290)
        world.provider.set { $0.apiAnswers = [refused] }
        #expect(try await world.get() == refused)
        #expect(world.apiRequests.count == 1)
        #expect(world.provider.count(.refresh) == 1)
    }

    @Test func `R-000-49 an empty list of origins gives nobody the token`() async throws {
        let world = try await World.signedIn()
        let http = world.http
        http.allowedOrigins = []
        _ = try await http.data(for: HTTPRequest(method: "GET", url: World.api))
        #expect(world.apiRequests.map { $0.header("Authorization") } == [[]])
    }

    @Test(arguments: [(4000, 4000), (90_000, 0)] as [(Int64, Int64)])
    func `R-100-35 an API's clock is followed up to a day, and reported beyond`(
        _ offset: Int64, _ applied: Int64
    ) async throws {
        let world = try await World.signedIn()
        let date = HTTPHeader("Date", FakeProvider.date(world.clock.now() + offset))
        world.provider.set { $0.apiAnswers = [HTTPAnswer(status: 200, headers: [date])] }
        _ = try await world.get()
        _ = try await world.get()
        let times = world.apiRequests.map { $0.proofClaims?["iat"]?.integer }
        #expect(times == [world.clock.now(), world.clock.now() + applied])
        let reports = world.diagnostics.events.filter { $0.outcome == .clockOffsetTooLarge }
        #expect(reports.map(\.flow) == (applied == 0 ? ["session"] : []))
    }
}
