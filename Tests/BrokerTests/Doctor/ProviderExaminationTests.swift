import AssertionMint
import HTTPClient
import JOSE
import SocketServer
import TestKit
import Testing

@testable import Broker

/// Providers with one thing wrong each, on real sockets over TLS.
@Suite struct ProviderExaminationTests {
    private static let authority = Task { try await TestAuthority() }

    /// What is found at a provider.
    ///
    /// - Parameters:
    ///   - ahead: microseconds this machine's clock is set ahead.
    ///   - trusts: whether the server's authority is known.
    ///   - issuer: what the client calls it, by the server's origin.
    private func codes(
        ahead: Int64 = 0, trusts: Bool = true, settings: String = "", alg: String = "ES256",
        issuer: (String) -> String = { $0 },
        _ answer: @escaping @Sendable (_ origin: String, HTTPRequest) -> HTTPResponse?
    ) async throws -> (codes: [FindingCode], requests: [String]) {
        let authority = try await Self.authority.value
        // It learns its own origin from the request, as a server behind no proxy can.
        let provider = try await StubHTTPSServer(authority) { request in
            answer("https://\(request.head.authority)", request)
        }
        let issuer = try #require(Issuer(issuer(provider.origin)))
        let https = HTTPClient(
            configuration: HTTPClientConfiguration(
                caFile: trusts ? authority.certificate : nil, connectTimeout: 2, readTimeout: 2,
                totalTimeout: 2, usesProxy: false))
        let clock = WallClock { WallClock.system.microseconds() + ahead }
        let network = NetworkExamination(
            fetcher: DocumentFetcher(fetch: { await https.fetch($0) }, clock: clock))
        let facts = await network.examine(issuers: [issuer], keySets: [])
        let metadata = try #require(facts.metadata[issuer])
        let client = ClientFacts(
            id: try Sample.clientId(), tenant: try Sample.tenantId(),
            settings: try Sample.settings(alg: alg, issuers: [issuer.rawValue], settings),
            tenantLimit: nil, keys: [])
        let findings =
            ProviderChecks.findings(metadata, of: issuer)
            + RegistrationChecks.findings(client, at: issuer, metadata)
        let requests = provider.requests
        await provider.stop()
        return (findings.map(\.code).filter { $0.level != .ok }, requests)
    }

    private func codes(changing member: String, to text: String?) async throws -> [FindingCode] {
        try await codes { origin, _ in
            var metadata = Metadata(origin)
            metadata.members[member] = text?.replacing("ORIGIN", with: origin)
            return .document(metadata.text)
        }.codes
    }

    @Test func `one that has everything has no fault, and is asked once`() async throws {
        let (codes, requests) = try await codes { origin, _ in .document(Metadata(origin).text) }
        #expect(codes.isEmpty)
        #expect(requests == ["GET /.well-known/openid-configuration"])
    }

    @Test(arguments: [
        ("issuer", String?.some("\"ORIGIN/\""), FindingCode.providerIssuerMismatch),
        ("issuer", nil, .providerIssuerMismatch), ("issuer", "5", .providerIssuerMismatch),
        ("issuer", "\"https://idp.example\"", .providerIssuerMismatch),
        ("token_endpoint", nil, .providerTokenEndpointMissing),
        ("token_endpoint", "null", .providerTokenEndpointMissing),
        ("token_endpoint", "\"http://idp.example/token\"", .providerEndpointNotHTTPS),
        ("token_endpoint", "\"/token\"", .providerEndpointNotHTTPS),
        ("token_endpoint", "[]", .providerEndpointNotHTTPS),
        ("authorization_challenge_endpoint", nil, .providerChallengeEndpointMissing),
        ("authorization_challenge_endpoint", "\"ftp://x/\"", .providerEndpointNotHTTPS),
        ("revocation_endpoint", "\"http://idp.example/revoke\"", .providerEndpointNotHTTPS),
        ("jwks_uri", "\"http://idp.example/jwks\"", .providerEndpointNotHTTPS),
        ("token_endpoint_auth_methods_supported", nil, .providerAuthMethodMissing),
        ("token_endpoint_auth_methods_supported", "[]", .providerAuthMethodMissing),
        (
            "token_endpoint_auth_methods_supported", "[\"tls_client_auth\"]",
            .providerAuthMethodMissing
        ),
        (
            "token_endpoint_auth_methods_supported", "\"private_key_jwt\"",
            .providerAuthMethodMissing
        ),
        (
            "token_endpoint_auth_methods_supported",
            "[\"private_key_jwt\",\"client_secret_basic\"]", .providerWeakAuthMethods
        ),
        ("token_endpoint_auth_signing_alg_values_supported", nil, .providerAlgsUnnamed),
        ("token_endpoint_auth_signing_alg_values_supported", "{}", .providerAlgsUnnamed),
        ("token_endpoint_auth_signing_alg_values_supported", "[\"PS256\"]", .providerAlgMissing),
        (
            "token_endpoint_auth_signing_alg_values_supported", "[\"es256\",\"PS256\"]",
            .providerAlgMissing
        ),
        (
            "token_endpoint_auth_signing_alg_values_supported", "[\"ES256\",\"RS256\"]",
            .providerWeakAlgs
        ),
        ("dpop_signing_alg_values_supported", nil, .providerDPoPAlgMissing),
        ("dpop_signing_alg_values_supported", "[\"RS256\",\"PS256\"]", .providerDPoPAlgMissing),
        ("code_challenge_methods_supported", nil, .providerPKCEMissing),
        ("code_challenge_methods_supported", "[\"plain\"]", .providerPKCEMissing),
    ])
    func `one thing wrong in the document is told by its code`(
        member: String, text: String?, code: FindingCode
    ) async throws {
        let codes = try await codes(changing: member, to: text)
        #expect(codes.contains(code))
        // "es256" is not only missing as ES256, it is also no algorithm FAPI knows.
        #expect(Set(codes).subtracting([code, .providerWeakAlgs]).isEmpty, "\(codes)")
    }

    @Test func `a client's own algorithm is what counts`() async throws {
        let (codes, _) = try await codes(alg: "PS256") { origin, _ in
            var metadata = Metadata(origin)
            metadata.members[ProviderChecks.algorithmsMember] = "[\"ES256\"]"
            return .document(metadata.text)
        }
        #expect(codes == [.providerAlgMissing])
    }

    private static let html = "<!doctype html><title>Sign in</title>"

    @Test(arguments: [
        (HTTPResponse.document(html, type: "text/html"), FindingCode.providerNotJSON),
        (.document(""), .providerNotJSON), (.document("[]"), .providerNotJSON),
        (.document("{\"issuer\":\"a\",\"issuer\":\"b\"}"), .providerNotJSON),
        (.document("{\"issuer\":\"\u{feff}"), .providerNotJSON),
        (.document("{}", status: 500), .providerStatus),
        (.document("{}", status: 204), .providerStatus),
        (.document("{}", status: 404), .providerStatus),
        (.document("{}", status: 302, headers: [("Location", "/real")]), .providerRedirect),
        (
            .document("{}", status: 308, headers: [("Location", "http://127.0.0.1:1/")]),
            .providerRedirect
        ), (.document("{}", status: 301), .providerRedirect),
        (
            HTTPResponse(
                status: 200, headers: [("Content-Type", "application/json")],
                body: Array("{\"issuer\":\"".utf8)
                    + [UInt8](repeating: UInt8(ascii: "a"), count: 10 << 20) + Array("\"}".utf8)),
            .providerTooLarge
        ),
    ])
    func `an answer that is no metadata is told by its kind`(
        response: HTTPResponse, code: FindingCode
    ) async throws {
        let (codes, requests) = try await codes { _, _ in response }
        #expect(codes == [code])
        // No redirect is followed; only for a document that is not there is there a second place.
        #expect(requests.count == (response.status == 404 ? 2 : 1))
    }

    @Test func `one that never answers is given up`() async throws {
        let (codes, _) = try await codes { _, _ in nil }
        #expect(codes == [.providerTimedOut])
    }

    @Test func `one that an unknown authority vouches for is not believed, nor asked`() async throws
    {
        let (codes, requests) = try await codes(trusts: false) { origin, _ in
            .document(Metadata(origin).text)
        }
        #expect(codes == [.providerTLS])
        #expect(requests.isEmpty)
    }

    @Test(arguments: [
        "https://127.0.0.1:1", "https://nowhere.invalid/t1", "https://[::1]:1",
    ])
    func `one that is not there is unreachable`(issuer: String) async throws {
        let (codes, _) = try await codes(issuer: { _ in issuer }) { _, _ in nil }
        #expect(codes == [.providerUnreachable])
    }

    @Test(arguments: [
        ("", "/.well-known/oauth-authorization-server"),
        ("/t1", "/.well-known/oauth-authorization-server/t1"),
        ("/t1/", "/.well-known/oauth-authorization-server/t1"),
    ])
    func `the second place is looked at when the first has nothing`(
        path: String, place: String
    ) async throws {
        let (codes, requests) = try await codes(issuer: { $0 + path }) { origin, request in
            guard request.head.path == place else { return .document("", status: 404) }
            return .document(Metadata(origin + path).text)
        }
        #expect(codes.isEmpty)
        #expect(requests.last == "GET \(place)")
    }

    @Test func `the declared issuer may have a slash more, and that is all that is wrong`()
        async throws
    {
        let (codes, _) = try await codes(issuer: { $0 + "/" }) { origin, _ in
            .document(Metadata(origin).text)
        }
        #expect(codes == [.providerIssuerMismatch])
    }

    @Test(arguments: [
        // Ahead of the provider: iat lies in its future.
        (Int64(0), "", FindingCode?.none), (4_000_000, "", nil),
        (9_000_000, "", .clockProviderDrifts), (30_000_000, "", .clockProviderOff),
        (14_000_000, "\"backdating\":10", .clockProviderDrifts),
        // Behind it: the assertion has expired on its way.
        (-9_000_000, "", .clockProviderDrifts), (-70_000_000, "", .clockProviderOff),
        (-20_000_000, "\"lifetime\":15", .clockProviderOff),
        (-70_000_000, "\"lifetime\":300", .clockProviderDrifts),
        (86_400_000_000, "", .clockProviderOff), (-86_400_000_000, "", .clockProviderOff),
    ])
    func `its Date is compared with this machine's clock, by what an assertion bears`(
        ahead: Int64, settings: String, code: FindingCode?
    ) async throws {
        let (codes, _) = try await codes(ahead: ahead, settings: settings) { origin, _ in
            .document(Metadata(origin).text)
        }
        #expect(codes == (code.map { [$0] } ?? []))
    }

    @Test(arguments: [
        ([String](), true), (["3600"], false), (["1"], false), (["0", "3600"], false),
        (["soon"], false),
        (["-1"], false), (["0, 3600"], false), (["99999999999999999999"], false),
        (["0"], true), (["000"], true),
    ])
    func `the Date of an answer that lay in a cache says nothing about the provider's clock`(
        ages: [String], counts: Bool
    ) async throws {
        let expected: FindingCode = counts ? .clockProviderOff : .clockProviderUnknown
        for ahead: Int64 in [3_600_000_000, -3_600_000_000] {
            let (codes, _) = try await codes(ahead: ahead) { origin, _ in
                .document(Metadata(origin).text, headers: ages.map { (name: "Age", value: $0) })
            }
            #expect(codes == [expected])
        }
    }

    @Test(arguments: [
        ("https://idp.example", "https://idp.example/", "a slash more"),
        ("https://idp.example/", "https://idp.example", "lacks the slash"),
        ("https://IDP.example", "https://idp.example", "written otherwise"),
        ("https://idp.example:443", "https://idp.example", "written otherwise"),
        ("https://idp.example/t%2D1", "https://idp.example/t-1", "written otherwise"),
        ("http://localhost/x", "https://localhost/x", "http and https"),
        ("https://idp.example/T1", "https://idp.example/t1", "letter case"),
        ("https://evil.example", "https://idp.example", "another issuer"),
        ("", "https://idp.example", "another issuer"),
    ])
    func `how two issuers differ is said in words`(found: String, declared: String, words: String) {
        #expect(IssuerDifference.text(found, declared: declared).contains(words))
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT": Int64(784_111_777),
        "Thu, 01 Jan 1970 00:00:00 GMT": 0, "Fri, 01 Jan 2100 00:00:00 GMT": 4_102_444_800,
    ])
    func `an HTTP date is read`(text: String, seconds: Int64) {
        #expect(HTTPDate.seconds(text) == seconds)
    }

    @Test(arguments: [
        "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 31 Apr 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT ",
    ])
    func `any other form of date is none`(text: String) {
        #expect(HTTPDate.seconds(text) == nil)
    }
}
