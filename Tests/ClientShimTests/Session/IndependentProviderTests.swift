import JOSE
import TestKit
import Testing

@testable import ClientShim

/// The parts of a session that a provider this project did not write has too (Tests/Peers/Authlib: Authlib and joserfc), over TLS:
/// discovery, a code, refreshes with rotation, API calls, revocation. It checks each assertion and proof by its own rules.
@Suite struct IndependentProviderTests {
    @Test func `the session is issued, used, refreshed and revoked at a provider of others`()
        async throws
    {
        let world = try await PeerWorld()
        try await world.signIn()
        let session = try #require(world.authn.currentSession())
        #expect(session.subject == "alice")
        // The provider's nonce is not its API's: the API asks for one of its own (R-000-45).
        let api = DPoPHTTP(world.authn)
        #expect(try await world.userinfo(api).status == 200)
        // The API's nonce is known now, so the proof is right at once.
        #expect(try await world.userinfo(api).status == 200)
        let tokens = try world.record
        for _ in 0..<3 { try await session.refresh() }
        let refreshed = try world.record
        // Rotated at each refresh; a token presented twice would have ended the family (R-000-50 to 52).
        #expect(tokens.refreshToken != refreshed.refreshToken)
        #expect(tokens.accessToken != refreshed.accessToken)
        #expect(try await world.userinfo(api).status == 200)
        // Many callers at once share one refresh.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { try await session.refresh() } }
            try await group.waitForAll()
        }
        #expect(try await world.userinfo(api).status == 200)
        let headers = try await session.authorize(method: "GET", url: world.userinfoURL)
        await world.authn.signOut()
        #expect(world.authn.currentSession() == nil)
        // Revoked there too (R-000-58): the access token of before is refused for itself.
        let refused = try await world.send(
            HTTPRequest(method: "GET", url: world.userinfoURL, headers: headers))
        #expect(refused.status == 401)
        #expect(
            AuthenticateChallenge.dpopError(in: refused.values("WWW-Authenticate"))
                == "invalid_token")
        #expect(try await world.assertions() == (accepted: world.provider.count, refused: 0))
    }

    @Test func `a family that the provider has ended is the end of the session`() async throws {
        let world = try await PeerWorld()
        try await world.signIn()
        let stolen = try #require(try world.record.refreshToken)
        let session = try #require(world.authn.currentSession())
        try await session.refresh()
        // Somebody else presents the token that is spent: the provider revokes the whole family.
        let outcome = try await world.post([
            ("grant_type", "refresh_token"), ("refresh_token", stolen.expose()),
        ])
        guard case .answer(.refused(let refusal)) = outcome else {
            Issue.record("a spent refresh token was taken: \(outcome)")
            return
        }
        #expect(refusal.error == "invalid_grant")
        await #expect(throws: RefreshError.SignInRequired) { try await session.refresh() }
        #expect(world.authn.currentSession() == nil)
    }
}
