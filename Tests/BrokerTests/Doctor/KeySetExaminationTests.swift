import AssertionMint
import HTTPClient
import JOSE
import SocketServer
import Synchronization
import TestKit
import Testing

@testable import Broker

/// Published key sets with one thing wrong each, on real sockets over TLS.
@Suite struct KeySetExaminationTests {
    private static let authority = Task { try await TestAuthority() }
    private static let active = Result { try PrivateKey.generate(.ES256).publicJWK }
    private static let pending = Result { try PrivateKey.generate(.ES256).publicJWK }

    private static func key(
        _ key: Result<PublicJWK, any Error>, _ kid: String, _ state: KeyState
    ) throws -> Declaration.Key {
        var jwk = try key.get()
        jwk.kid = kid
        return Declaration.Key(kid: kid, uri: "file:/k.pem", state: state, publicJWK: jwk)
    }

    private static func client() throws -> ClientFacts {
        ClientFacts(
            id: try Sample.clientId(), tenant: try Sample.tenantId(),
            settings: try Sample.settings(), tenantLimit: nil,
            keys: [
                KeyFacts(key: try key(active, "a", .active), age: 0, trial: .mints([])),
                KeyFacts(key: try key(pending, "p", .pending), age: 0, trial: .signs),
            ])
    }

    /// The set as the broker publishes it.
    private static func published() throws -> String {
        JWKSet(try client().keys.map(\.key.publicJWK)).jsonText
    }

    private func findings(
        trusts: Bool = true, _ response: HTTPResponse?
    ) async throws -> [FindingCode] {
        let authority = try await Self.authority.value
        let server = try await StubHTTPSServer(authority) { _ in response }
        let https = HTTPClient(
            configuration: HTTPClientConfiguration(
                caFile: trusts ? authority.certificate : nil, connectTimeout: 2, readTimeout: 2,
                totalTimeout: 2, usesProxy: false))
        let network = NetworkExamination(
            fetcher: DocumentFetcher(fetch: { await https.fetch($0) }, clock: .system))
        let url = server.origin + "/keys"
        let facts = await network.examine(issuers: [], keySets: [url])
        await server.stop()
        return KeySetChecks.findings(try Self.client(), try #require(facts.keySets[url])).map(
            \.code
        )
        .filter { $0 != .jwksLoopback }
    }

    @Test func `what the broker publishes is as it should be`() async throws {
        let response = HTTPResponse.document(
            try Self.published(), type: "application/jwk-set+json",
            headers: [("Cache-Control", "public, max-age=300")])
        #expect(try await findings(response) == [.jwksListsActiveKey])
    }

    @Test(arguments: [
        (HTTPResponse?.none, FindingCode.jwksTimedOut),
        (.document("<html>", type: "text/html"), .jwksNotJSON),
        (.document("{}", status: 421), .jwksStatus), (.document("{}", status: 404), .jwksStatus),
        (.document("{}", status: 301, headers: [("Location", "/")]), .jwksRedirect),
        (.document("{}"), .jwksMalformed), (.document("{\"keys\":{}}"), .jwksMalformed),
        (.document("{\"keys\":[]}"), .jwksActiveKeyMissing),
        (
            .document("{\"keys\":[],\"x\":\"\(String(repeating: "x", count: 65_536))\"}"),
            .jwksTooLarge
        ),
        (
            HTTPResponse(
                status: 200, headers: [], body: [UInt8](repeating: 0x20, count: 10 << 20)),
            .jwksTooLarge
        ),
        (.document("{\"keys\":[{\"kty\":\"EC\",\"kid\":\"a\",\"d\":\"AA\"}]}"), .jwksPrivateMember),
    ])
    func `what a provider could not use is told by its kind`(
        response: HTTPResponse?, code: FindingCode
    ) async throws {
        #expect(try await findings(response).filter { $0 != .jwksIncomplete } == [code])
    }

    @Test func `an unknown authority's server is not believed`() async throws {
        #expect(try await findings(trusts: false, .document(Self.published())) == [.jwksTLS])
    }

    @Test func `another key under the kid, and a kid twice, are faults`() async throws {
        let swapped = try Self.published().replacing("\"a\"", with: "\"swap\"")
            .replacing("\"p\"", with: "\"a\"").replacing("\"swap\"", with: "\"p\"")
        #expect(try await findings(.document(swapped)).contains(.jwksOtherKey))
        let twice = try Self.published().replacing("\"p\"", with: "\"a\"")
        #expect(try await findings(.document(twice)).contains(.jwksDuplicateKid))
    }

    @Test func `a key for another use is not listed`() async throws {
        let encryption = try Self.published().replacing("\"sig\"", with: "\"enc\"")
        #expect(
            try await findings(.document(encryption)) == [.jwksActiveKeyMissing, .jwksIncomplete])
    }

    @Test func `a set without the next key, or kept too long, is a warning`() async throws {
        let stale = JWKSet([try Self.key(Self.active, "a", .active).publicJWK]).jsonText
        #expect(
            try await findings(.document(stale)) == [.jwksListsActiveKey, .jwksIncomplete])
        for (field, isTooLong) in [
            ("max-age=300", false), ("no-store", false), ("public,max-age=301", true),
            ("Max-Age=\"86400\", public", true), ("s-maxage=86400", false),
        ] {
            let codes = try await findings(
                .document(try Self.published(), headers: [("Cache-Control", field)]))
            #expect(codes.contains(.jwksCachedTooLong) == isTooLong, "\(field)")
        }
    }

    @Test func `only https, and this machine for development, is fetched from`() async throws {
        let asked = Mutex(false)
        let network = NetworkExamination(
            fetcher: DocumentFetcher(
                fetch: { _ in
                    asked.withLock { $0 = true }
                    return .unsent(.unreachable)
                }, clock: .system))
        let url = "http://broker.example/keys"
        let facts = await network.examine(issuers: [], keySets: [url])
        #expect(
            KeySetChecks.findings(try Self.client(), try #require(facts.keySets[url])).map(\.code)
                == [.jwksNotHTTPS])
        #expect(!asked.withLock { $0 })
    }

    @Test(arguments: [
        ("app", "app"), ("https://app.example", "https:%2F%2Fapp.example"),
        ("a%b", "a%25b"), ("a+b=c", "a%2Bb%3Dc"), ("a~b_c-d.e", "a~b_c-d.e"),
    ])
    func `a client's key set is looked for where the broker serves it`(id: String, segment: String)
        throws
    {
        let client = ClientFacts(
            id: try Sample.clientId(id), tenant: try Sample.tenantId(),
            settings: try Sample.settings(), tenantLimit: nil, keys: [])
        let server = ServerFacts(
            publicURL: try #require(HTTPTargetURI("https://broker.example:8443")),
            takesCertificates: false)
        let url = try #require(client.keySetURL(server))
        let prefix = "https://broker.example:8443/v1/clients/"
        #expect(url.hasPrefix(prefix) && url.hasSuffix("/jwks.json"))
        let found = url.dropFirst(prefix.count).dropLast("/jwks.json".count)
        // Both spellings mean the same (RFC 3986 §2.2); the server takes either.
        #expect(found.replacing("%3A", with: ":") == segment)
        #expect(client.keySetURL(nil) == nil)
    }
}
