import AssertionMint
import HTTPClient
import JOSE
import Testing

@testable import Broker

@Suite struct ProviderProbeTests {
    static let tokenEndpoint = "https://idp.example/t1/token"

    private let key: PrivateKey
    private let signer: AssertionSigner

    init() throws {
        key = try PrivateKey.generate(.ES256)
        signer = AssertionSigner(
            clientId: try Sample.clientId(), key: key, kid: "k1",
            profile: try Sample.settings().profile)
    }

    /// What the probe makes of a provider whose token endpoint answers so.
    private func ask(_ provider: StubProvider) async throws -> ProbeAnswer {
        await ProviderProbe(
            issuer: try #require(Issuer(Sample.issuer)), signer: signer, fetch: provider.fetch
        ).ask(at: try #require(ProviderEndpoint(Self.tokenEndpoint, takesPlain: false)))
    }

    @Test func `only invalid_grant shows that the client was authenticated`() async throws {
        #expect(
            try await ask(StubProvider { _ in .answer(400, #"{"error":"invalid_grant"}"#) })
                == .accepted)
    }

    @Test(arguments: [(401, "invalid_client"), (400, "invalid_client"), (401, "access_denied")])
    func `a client that was not authenticated is told with the provider's words`(
        status: Int, error: String
    ) async throws {
        let provider = StubProvider { _ in
            .answer(status, #"{"error":"\#(error)","error_description":"no such kid"}"#)
        }
        #expect(
            try await ask(provider) == .refused(error: error, description: "no such kid"))
    }

    static let unclear: [HTTPOutcome] = [
        .answer(500, #"{"error":"invalid_grant"}"#), .answer(200, #"{"access_token":"x"}"#),
        .answer(400, "<html>"), .answer(400, #"{"error":7}"#), .answer(400, "[]"),
        .answer(400, #"{"error":"invalid_request"}"#), .answer(429, #"{"error":"slow_down"}"#),
        .answer(400, #"{"error":"invalid_grant","error":"invalid_client"}"#),
        .answer(302, #"{"error":"invalid_grant"}"#),
        .answer(400, #"{"error":"unauthorized_client"}"#),
        .answer(401, #"{"error":"invalid_dpop_proof"}"#), .lost(.timedOut), .unsent(.unresolved),
        .lost(.insecure),
        StubProvider.answer(400, #"{"error":"invalid_grant"}"#, isOversized: true),
    ]

    @Test(arguments: unclear)
    func `whatever else comes says nothing about the assertion`(outcome: HTTPOutcome) async throws {
        let answer = try await ask(StubProvider { _ in outcome })
        switch answer {
        case .unclear(let text), .refusedOtherwise(_, let text):
            #expect(text.contains(Self.tokenEndpoint))
        case .accepted, .refused: Issue.record("\(answer)")
        }
    }

    @Test func `the request is a whole one: a fresh assertion, bound to the proof beside it`()
        async throws
    {
        let provider = StubProvider { _ in .answer(400, #"{"error":"invalid_grant"}"#) }
        _ = try await ask(provider)
        _ = try await ask(provider)
        var seen: Set<String> = []
        for request in provider.requests {
            #expect(request.method == "POST" && request.url == Self.tokenEndpoint)
            #expect(request.form["grant_type"] == "authorization_code")
            #expect(request.form["client_id"] == "app")
            #expect(
                request.form["client_assertion_type"]
                    == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
            #expect(request.form["code_verifier"]?.utf8.count == 43)
            let proof = try #require(request.headers.first { $0.name == "DPoP" }?.value)
            let verified = try DPoPVerifier(maximumAge: 60, maximumAhead: 5).verify(
                proof, method: "POST", uri: try #require(HTTPTargetURI(Self.tokenEndpoint)),
                now: WallClock.system.seconds
            ) { $0 == nil }
            let parts = try #require(request.form["client_assertion"]).split(separator: ".")
            let claims = try JSONValue(
                parsing: try #require(Base64URL.decode(String(parts[1]))))
            #expect(claims["aud"]?.string == Sample.issuer)
            #expect(claims["cnf"]?["jkt"]?.string == verified.jkt.rawValue)
            #expect(
                try PublicKey(key.publicJWK).verifies(
                    try #require(Base64URL.decode(String(parts[2]))),
                    over: Array("\(parts[0]).\(parts[1])".utf8)))
            for value in [
                claims["jti"]?.string, request.form["code"], request.form["code_verifier"],
                verified.jkt.rawValue,
            ] {
                #expect(seen.insert(try #require(value)).inserted, "it is used once only")
            }
        }
        #expect(provider.requests.count == 2)
    }

    @Test func `a nonce that the provider demands is used, once`() async throws {
        let provider = StubProvider { request in
            let proof = request.headers.first { $0.name == "DPoP" }?.value ?? ""
            let claims = Base64URL.decode(String(proof.split(separator: ".")[1])) ?? []
            return String(decoding: claims, as: UTF8.self).contains("n-1")
                ? .answer(400, #"{"error":"invalid_grant"}"#)
                : StubProvider.answer(
                    400, #"{"error":"use_dpop_nonce"}"#, ("dpop-nonce", "n-1"))
        }
        #expect(try await ask(provider) == .accepted)
        #expect(provider.requests.count == 2)
        let insatiable = StubProvider { _ in
            StubProvider.answer(400, #"{"error":"use_dpop_nonce"}"#, ("DPoP-Nonce", "n-1"))
        }
        #expect(try await ask(insatiable) != .accepted)
        #expect(insatiable.requests.count == 2)
    }

    @Test func `what a stranger says cannot move the cursor of a terminal`() {
        let answer = ProbeAnswer.refused(
            error: "invalid_client\u{1b}[2J", description: String(repeating: "é\n", count: 500))
        #expect(answer.description.unicodeScalars.allSatisfy { $0.value >= 0x20 })
        #expect(answer.description.utf8.count < 300)
    }
}

extension HTTPOutcome {
    fileprivate static func answer(_ status: Int, _ body: String) -> HTTPOutcome {
        StubProvider.answer(status, body)
    }
}
