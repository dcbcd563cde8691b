import AssertionMint
import JOSE
import TestKit
import Testing

@testable import Broker

/// All kinds of token come from one mechanism: the same limits, log and rows, and never one for another.
@Suite struct TokenMechanismTests {
    @Test func `all kinds spend the same limits`() async throws {
        let limits = #""limits":{"install":{"burst":3,"rate":1,"per":3600}}"#
        let broker = try await TestBroker(try TokenKindTests.directory(limits: limits))
        let install = try Install()
        for kind in TokenKind.allCases {
            #expect(try await broker.send(TokenKindTests.call(kind, of: install)).status == 200)
        }
        for kind in TokenKind.allCases {
            #expect(
                try await broker.send(TokenKindTests.call(kind, of: install)).code == "rate_limited"
            )
        }
        let events = try await broker.log.events("assertion.")
        let kinds = (TokenKind.allCases + TokenKind.allCases).map(\.rawValue)
        #expect(events.compactMap { $0["kind"]?.string } == kinds)
        #expect(events.prefix(3).map { $0["remaining"]?.integer } == [2, 1, 0])
    }

    /// The log's own form feeds the replay of limits: a mint is a mint, whatever the kind.
    @Test func `the log names the kind, and a replay counts every kind`() async throws {
        let broker = try await TestBroker(try TokenKindTests.directory())
        let install = try Install()
        for kind in TokenKind.allCases {
            #expect(try await broker.send(TokenKindTests.call(kind, of: install)).status == 200)
        }
        let lines = try await broker.log.lines()
        try await LogSchema.check(lines)
        let mints = try lines.map { line in
            guard case .mint(let mint) = try LoggedLine(Array(line.utf8)) else {
                throw LogFault("not read as a mint: \(line)")
            }
            return mint
        }
        #expect(mints.map(\.jkt.rawValue) == [install.jkt, install.jkt, install.jkt])
        let events = try await broker.log.events("assertion.minted")
        #expect(events.map { $0["alg"]?.string } == ["ES256", "HS256", "ES256"])
        #expect(events.map { $0["kid"] == nil } == [false, true, false])
    }

    @Test func `neither is consumed as an assertion`() async throws {
        let broker = try await TestBroker(try TokenKindTests.directory())
        let install = try Install()
        for kind in TokenKindTests.others {
            let answer = try await broker.send(TokenKindTests.call(kind, of: install)).json()
            let token = try #require(answer[kind.rawValue]?.string)
            let response = try await broker.send(ConsumeCall(token, token: "tb_consume"))
            #expect(response.code == "invalid_client_assertion")
        }
        let answer = try await broker.send(TokenKindTests.call(.clientAssertion, of: install))
            .json()
        let assertion = try #require(answer["client_assertion"]?.string)
        #expect(try await broker.send(ConsumeCall(assertion, token: "tb_consume")).status == 200)
    }

    /// RFC 9449 §4.3: a proof's `alg` is asymmetric. One by a secret is refused, whatever its key says.
    @Test func `a proof made with a secret is none`() async throws {
        let broker = try await TestBroker(try TokenKindTests.directory())
        let install = try Install()
        let secret = try SharedSecret(text: Array(Sample.secretText.utf8))
        for kind in TokenKind.allCases {
            let proof = try broker.proof(install, for: kind)
            let payload = proof.split(separator: ".")[1]
            let header =
                #"{"alg":"HS256","typ":"dpop+jwt","jwk":\#(install.key.publicJWK.jsonText(asSigningKey: false))}"#
            let forged = try JWSBuilder.compact(
                header: Array(header.utf8), payload: Base64URL.decode(String(payload)) ?? []
            ) { (input) throws(OpenSSLError) in try secret.code(over: input) }
            let response = try await broker.send(
                .proof(forged, jkt: install.jkt) { $0.kind = kind })
            #expect(response.code == "invalid_dpop_proof")
        }
        #expect(broker.database.jtis.isEmpty)
    }

    /// Whatever is asked in whatever way: an answer holds a token of the kind its path names, and no other; and there is one row
    /// for each token.
    @Test(arguments: 0..<4)
    func `no request of one kind yields another's token, and rows equal tokens`(seed: UInt64)
        async throws
    {
        let broker = try await TestBroker(try TokenKindTests.directory())
        var random = SeededRandom(seed: seed)
        let installs = try (0..<4).map { _ in try Install() }
        var jtis: Set<String> = []
        var tokens = 0
        for _ in 0..<120 {
            let kind = try #require(TokenKind.allCases.randomElement(using: &random))
            let call = try Self.randomCall(kind, broker, installs, &random)
            let response = try await broker.send(call)
            guard response.status == 200 else {
                #expect(response.code != nil && !Self.holdsToken(response.text))
                continue
            }
            let answer = try response.json()
            let handedOut = TokenKind.allCases.filter { answer[$0.rawValue] != nil }
            #expect(handedOut == [kind])
            let token = try #require(answer[kind.rawValue]?.string)
            #expect(try Self.kind(of: token) == kind)
            #expect(!Self.holdsToken(response.text.replacing(token, with: "")))
            tokens += 1
            jtis.insert(try #require(answer["jti"]?.string))
        }
        #expect(tokens > 20, "most requests were refused, so little was tried")
        #expect(jtis.count == tokens)
        #expect(broker.database.jtis == jtis)
        let minted = try await broker.log.events("assertion.minted")
        #expect(Set(minted.compactMap { $0["jti"]?.string }) == jtis)
        #expect(minted.count == tokens)
    }

    /// Whether anything in it looks like a compact JWS; a `jti` may well have the same letters.
    private static func holdsToken(_ text: String) -> Bool {
        text.contains(/eyJ[A-Za-z0-9_-]+\./)
    }

    private static func randomCall(
        _ kind: TokenKind, _ broker: TestBroker, _ installs: [Install],
        _ random: inout SeededRandom
    ) throws -> MintCall {
        func oneIn(_ number: Int) -> Bool { Int.random(in: 0..<number, using: &random) == 0 }
        let install = try pick(installs, &random)
        var call = MintCall()
        call.kind = kind
        call.clientId =
            ["app", "app", "app", "proof-only", "ps", "plain", "nobody"]
            .randomElement(using: &random) ?? "app"
        call.dpopJkt = oneIn(8) ? try pick(installs, &random).jkt : install.jkt
        if !oneIn(3) { call.set("Authorization", "Bearer \(TokenKindTests.token)") }
        if oneIn(2) {
            let made = oneIn(6) ? TokenKind.allCases.randomElement(using: &random) ?? kind : kind
            call.set("DPoP", try broker.proof(install, for: made))
        }
        if oneIn(2) || kind == .clientAttestation {
            let key = oneIn(6) ? try pick(installs, &random).key : install.key
            call.jwk = key.publicJWK.jsonText(asSigningKey: oneIn(2))
        }
        if oneIn(6) { call.audience = "https://other.example" }
        return call
    }

    private static func pick(_ installs: [Install], _ random: inout SeededRandom) throws -> Install
    {
        try #require(installs.randomElement(using: &random))
    }

    /// By what stands in it alone.
    private static func kind(of token: String) throws -> TokenKind? {
        let parts = token.split(separator: ".").map { Base64URL.decode(String($0)) ?? [] }
        try #require(parts.count == 3)
        let (header, claims) = (try JSONValue(parsing: parts[0]), try JSONValue(parsing: parts[1]))
        switch (header["alg"]?.string, header["typ"]?.string) {
        case ("HS256", "JWT"):
            return claims["cid"] != nil && claims["cnf"] == nil ? .transportToken : nil
        case ("ES256", "client-authentication+jwt"), ("PS256", "client-authentication+jwt"):
            return claims["iss"] != nil && claims["cnf"]?["jkt"] != nil ? .clientAssertion : nil
        case ("ES256", "oauth-client-attestation+jwt"), ("PS256", "oauth-client-attestation+jwt"):
            return claims["iss"] == nil && claims["cnf"]?["jwk"] != nil ? .clientAttestation : nil
        default: return nil
        }
    }
}
