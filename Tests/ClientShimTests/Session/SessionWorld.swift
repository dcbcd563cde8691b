import JOSE
import Synchronization
import Testing

@testable import ClientShim

extension World {
    /// Signed in, with the provider's counters at zero.
    static func signedIn(
        tokenResponse: [String: String] = [:], provider: (any ClientAssertionProvider)? = nil
    ) async throws -> World {
        let world = try await World()
        world.provider.set { $0.tokenResponse = tokenResponse }
        let states = await world.signIn(with: provider ?? FakeAssertions())
        try #require(states.session != nil)
        world.provider.set {
            $0.tokenResponse = [:]
            $0.counts = [:]
        }
        return world
    }

    var session: TokenSession {
        get throws { try #require(authn.currentSession()) }
    }

    var record: SessionRecord? {
        get throws { try store.read("session").flatMap { SessionRecord(bytes: $0) } }
    }

    var http: DPoPHTTP { DPoPHTTP(authn) }

    static let api = "https://api.example/accounts"

    func get(_ url: String = World.api) async throws -> HTTPAnswer {
        try await http.data(for: HTTPRequest(method: "GET", url: url))
    }

    /// The requests an API saw.
    var apiRequests: [HTTPRequest] { provider.state.withLock { $0.apiRequests } }
}

extension HTTPRequest {
    func header(_ name: String) -> [String] {
        headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// The claims of the one proof.
    var proofClaims: JSONValue? {
        header("DPoP").first.flatMap { UnverifiedJWT($0)?.claims }
    }
}
