import JOSE
import Testing

@testable import ClientShim

@Suite struct SignInWireTests {
    @Test func `R-000-08 evidence over the start's nonce is sent when the attestor has some`()
        async throws
    {
        let world = try await World()
        var environment = world.environment
        environment.attestor = ScriptedAttestor { "over " + String(decoding: $0, as: UTF8.self) }
        let authn = try Authn(environment: environment)
        #expect(await world.drive(authn.startSignInFlow(config: world.config)).session != nil)
        _ = await world.signIn()
        let starts = world.provider.forms(.start)
        #expect(starts[0]["app_attestation"] == "over " + (starts[0]["nonce"] ?? ""))
        #expect(starts[1]["app_attestation"] == nil)
    }

    @Test(arguments: [
        HTTPAnswer(status: 503, body: Array(#"{"auth_session":"newer"}"#.utf8)),
        FakeProvider.json(
            400,
            [
                "error": #""use_dpop_nonce""#, "auth_session": #""newer""#,
            ]),
    ])
    func `R-000-12 a new auth_session in any answer takes the old one's place`(
        _ answer: HTTPAnswer
    ) async throws {
        let world = try await World()
        var answer = answer
        answer.headers.append(HTTPHeader("DPoP-Nonce", "fresh"))
        world.provider.plan(.completion, [.answer(answer)])
        _ = await world.signIn(retries: 1)
        let sent = world.provider.forms(.completion).map { $0["auth_session"] }
        #expect(sent == ["auth-session-1", "newer"])
    }

    @Test(arguments: [nil, "urn:ietf:params:oauth:request_uri:6esc"])
    func `R-000-16 a provider that wants a browser says where`(_ uri: String?) async throws {
        let world = try await World()
        var members = ["error": #""redirect_to_web""#]
        if let uri { members["request_uri"] = "\"\(uri)\"" }
        world.provider.plan(.start, [.answer(FakeProvider.json(400, members))])
        #expect(await world.signIn().failure == .browserRequired(requestUri: uri))
    }
}
