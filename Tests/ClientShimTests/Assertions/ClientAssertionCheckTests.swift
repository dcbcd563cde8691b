import JOSE
import Testing

@testable import ClientShim

/// R-101-09.
@Suite struct ClientAssertionCheckTests {
    private let request = ClientAssertionRequest(
        clientId: "app", audience: "https://idp.example", dpopJkt: "jkt")

    private func check(_ text: String) throws(ClientAssertionError) {
        try ClientAssertionCheck().check(Secret(text), for: request)
    }

    @Test(arguments: ["ES256", "PS256"])
    func `a good assertion passes`(_ alg: String) throws {
        try check(
            FakeAssertions.assertion(
                for: request, jti: "1", header: #"{"alg":"\#(alg)","kid":"k"}"#))
    }

    @Test(arguments: [
        "", "a", "a.b", "a.b.c.d", "e30.e30", "e30.e30.", "e30=.e30.AA", "e30.W10.AA",
    ])
    func `text that is no compact JWS is refused`(_ text: String) {
        #expect(throws: ClientAssertionError.self) { try check(text) }
    }

    @Test(arguments: ["none", "HS256", "RS256", "es256", "EdDSA", ""])
    func `any other algorithm is refused`(_ alg: String) {
        let text = FakeAssertions.assertion(
            for: request, jti: "1", header: #"{"alg":"\#(alg)"}"#)
        #expect(throws: ClientAssertionError.self) { try check(text) }
    }

    @Test(
        arguments: [
            ("aud", #"["https://idp.example"]"#), ("aud", #""https://idp.example/""#),
            ("aud", #""https://idp.example/token""#), ("aud", "null"), ("iss", #""other""#),
            ("sub", #""other""#), ("sub", "7"), ("jti", #""""#), ("jti", "5"),
        ])
    func `a claim that is not what was asked for is refused, without showing the assertion`(
        _ name: String, _ value: String
    ) {
        let text = FakeAssertions.assertion(for: request, jti: "1") { claims in
            claims = claims.map { $0.0 == name ? (name, value) : $0 }
        }
        let error = #expect(throws: ClientAssertionError.self) { try check(text) }
        guard case .Unavailable(let details) = error else { return }
        #expect(!details.contains(text))
    }

    @Test(arguments: ["iss", "sub", "aud", "jti"])
    func `a claim that is missing is refused`(_ name: String) {
        let text = FakeAssertions.assertion(for: request, jti: "1") { claims in
            claims.removeAll { $0.0 == name }
        }
        #expect(throws: ClientAssertionError.self) { try check(text) }
    }

    @Test func `the jti of the assertion before is refused`() throws {
        let check = ClientAssertionCheck()
        let first = Secret(FakeAssertions.assertion(for: request, jti: "1"))
        try check.check(first, for: request)
        #expect(throws: ClientAssertionError.self) { try check.check(first, for: request) }
        try check.check(
            Secret(FakeAssertions.assertion(for: request, jti: "2")), for: request)
    }
}
