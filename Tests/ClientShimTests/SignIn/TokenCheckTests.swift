import JOSE
import Testing

@testable import ClientShim

/// The edges of what a token answer may hold (flows §3.8), at a sign-in and at a refresh.
@Suite struct TokenCheckTests {
    @Test(
        arguments: [
            ["exp": "1800000000"], ["exp": "null"], ["iat": "null"], ["nonce": "null"],
            ["iss": "null"], ["iss": #""https://idp.example/""#], ["aud": "null"], ["aud": "[]"],
            ["aud": #"["app",7]"#, "azp": #""app""#], ["aud": #"["app","b"]"#, "azp": "null"],
        ])
    func `R-000-30 a claim that is missing, or a token that ends this second, is refused`(
        _ claims: [String: String]
    ) async throws {
        let world = try await World()
        world.provider.set { $0.idTokenClaims = claims }
        #expect(await world.signIn(with: FakeAssertions()).failure == .tokenRejected)
        #expect(try world.record == nil)
        #expect(await eventually { world.provider.liveGrants == 0 })
    }

    @Test(
        arguments: [
            ["exp": "1800000001"], ["iat": "1800000060"], ["iat": "1"], ["aud": #"["app"]"#],
            ["aud": #"["b","app"]"#, "azp": #""app""#], ["azp": #""app""#],
        ])
    func `R-000-30 what is just within the bounds is taken`(
        _ claims: [String: String]
    ) async throws {
        let world = try await World()
        world.provider.set { $0.idTokenClaims = claims }
        #expect(await world.signIn(with: FakeAssertions()).session != nil)
    }

    private func accessToken(_ claims: String) -> String {
        let parts = [#"{"alg":"ES256"}"#, claims, "s"].map { Base64URL.encode($0.utf8) }
        return "\"" + parts.joined(separator: ".") + "\""
    }

    @Test(arguments: ["{}", #"{"cnf":{}}"#, #"{"cnf":{"jkt":7}}"#, #"{"cnf":{"x5t#S256":"a"}}"#])
    func `R-000-32 an access token that is a JWT and names no key is refused`(
        _ claims: String
    ) async throws {
        let world = try await World()
        world.provider.set { $0.tokenResponse = ["access_token": accessToken(claims)] }
        #expect(await world.signIn(with: FakeAssertions()).failure == .tokenRejected)
        #expect(try world.record == nil)
        #expect(await eventually { world.provider.liveGrants == 0 })
    }

    @Test func `R-000-32 an access token that is a JWT and names the install key is taken`()
        async throws
    {
        let world = try await World.signedIn()
        let jkt = try #require(try world.record?.dpopJkt)
        let token = accessToken(#"{"cnf":{"jkt":"\#(jkt)"}}"#)
        world.provider.set { $0.tokenResponse = ["access_token": token] }
        #expect(await world.signIn(with: FakeAssertions()).session != nil)
        #expect(try world.record.map { "\"\($0.accessToken.expose())\"" } == token)
    }

    @Test(
        arguments: [
            ["iss": #""https://other.example""#], ["aud": #""other""#], ["azp": #""b""#],
            ["exp": "1800000000"], ["iat": "1800000061"], ["sub": #""""#],
            ["header": #"{"alg":"none"}"#], ["header": #"{"alg":"HS256"}"#],
        ])
    func `R-000-56 R-000-30 R-000-31 a refreshed ID token is checked like the first`(
        _ claims: [String: String]
    ) async throws {
        let world = try await World.signedIn()
        world.provider.set { $0.idTokenClaims = claims }
        let session = try world.session
        await #expect(throws: RefreshError.SignInRequired) { try await session.refresh() }
        #expect(try world.record == nil)
        #expect(world.authn.currentSession() == nil)
        #expect(world.provider.liveGrants == 0)
    }

    @Test func `R-000-56 a nonce in a refreshed ID token is not looked at`() async throws {
        let world = try await World.signedIn()
        world.provider.set { $0.idTokenClaims = ["nonce": #""any""#] }
        try await world.session.refresh()
        #expect(world.authn.currentSession() != nil)
    }

    @Test func `R-000-32 a refreshed token bound to another key is not used`() async throws {
        let world = try await World.signedIn()
        let before = try world.record
        let token = accessToken(#"{"cnf":{"jkt":"other"}}"#)
        world.provider.set { $0.tokenResponse = ["access_token": token] }
        let session = try world.session
        await #expect(throws: RefreshError.Server) { try await session.refresh() }
        #expect(try world.record == before)
    }
}
