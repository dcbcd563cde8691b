import AssertionMint
import JOSE
import TestKit
import Testing

/// Transport tokens and client attestations: exactly what they say, judged by libraries that are not ours; and that neither is
/// taken for a client assertion.
@Suite struct OtherTokensTests {
    private static let now: Int64 = 1_700_000_000
    private static let secretText = "k9Vt-QyPz3XcW8m_LrB2sNfHu6JdEaGo"
    private let clientId: ClientId
    private let issuer: Issuer
    private let keys: [JWSAlgorithm: PrivateKey]

    init() throws {
        clientId = try #require(ClientId("s6BhdRkqt3"))
        issuer = try #require(Issuer("https://idp.example/t1"))
        keys = [.ES256: try PrivateKey.generate(.ES256), .PS256: try PrivateKey.generate(.PS256)]
    }

    private func transportTokens(
        secret: String = secretText, lifetime: Int64 = 60, backdating: Int64 = 0,
        issuer: String = "https://bank.example"
    ) throws -> TransportTokenSigner {
        let (clientId, issuer, audience) = (
            try #require(ClaimText("org-17")), try #require(ClaimText(issuer)),
            try #require(ClaimText("https://sso.example/social"))
        )
        let profile = TransportTokenProfile(
            clientId: clientId, issuer: issuer, audience: audience, lifetime: lifetime,
            backdating: backdating)
        return TransportTokenSigner(
            secret: try SharedSecret(text: Array(secret.utf8)), profile: try #require(profile))
    }

    private func signer(
        _ algorithm: JWSAlgorithm = .ES256, _ profile: AssertionProfile? = AssertionProfile()
    ) throws -> AssertionSigner {
        AssertionSigner(
            clientId: clientId, key: try #require(keys[algorithm]), kid: "key-1",
            profile: try #require(profile))
    }

    private func transportToken(_ signer: TransportTokenSigner, now: Int64 = now) throws -> String {
        try signer.token(jti: JTI.random(at: now), times: signer.times(now: now)).expose()
    }

    private func attestation(_ signer: AssertionSigner, of key: PublicJWK, now: Int64 = now) throws
        -> String
    {
        let profile = try #require(AttestationProfile())
        return try signer.attestation(
            of: key, jti: JTI.random(at: now), times: signer.times(now: now, of: profile)
        ).expose()
    }

    private func judge(_ questions: [String]) async throws -> [JSONValue] {
        try await Oracle.ask("tokens.py", questions)
    }

    private func question(
        _ kind: String, _ token: String, secret: String? = nil, jwk: PublicJWK? = nil,
        now: Int64 = now
    ) -> String {
        var json = JSONWriter()
        json.object {
            $0.member("kind", kind)
            $0.member("token", token)
            $0.member("now", now)
            if let secret { $0.member("secret", secret) }
            if let jwk {
                $0.name("jwk")
                jwk.write(to: &$0, asSigningKey: true)
            }
        }
        return json.text
    }

    // MARK: Transport tokens

    @Test func `R-003-01: the raw octets of a transport token's header and payload`() throws {
        let signer = try transportTokens()
        let jti = try JTI.random(at: Self.now)
        let parts = try signer.token(jti: jti, times: signer.times(now: Self.now)).expose().split(
            separator: ".", omittingEmptySubsequences: false)
        try #require(parts.count == 3)
        let texts = parts.prefix(2).map {
            String(decoding: Base64URL.decode(String($0)) ?? [], as: UTF8.self)
        }
        #expect(texts[0] == #"{"alg":"HS256","typ":"JWT"}"#)
        #expect(
            texts[1]
                == #"{"cid":"org-17","iss":"https://bank.example","aud":"https://sso.example/social","jti":"\#(jti)","iat":1700000000,"exp":1700000060}"#
        )
        #expect(Base64URL.decode(String(parts[2]))?.count == 32)
    }

    @Test func `two libraries accept transport tokens, with their secret and no other`()
        async throws
    {
        let other = String(Self.secretText.reversed())
        let long = String(repeating: Self.secretText, count: 32)
        let tokens = [
            (try transportToken(transportTokens()), Self.secretText),
            (try transportToken(transportTokens(lifetime: 10, backdating: 9)), Self.secretText),
            (try transportToken(transportTokens(secret: long)), long),
        ]
        let good = try await judge(
            tokens.map { question("transport_token", $0.0, secret: $0.1) })
        for answer in good { #expect(answer["fault"] == nil, "\(answer)") }
        #expect(good[1]["claims"]?["iat"]?.integer == Self.now - 9)
        #expect(good[1]["claims"]?["exp"]?.integer == Self.now + 1)
        let bad = try await judge(
            tokens.map { question("transport_token", $0.0, secret: other) })
        for answer in bad { #expect(answer["fault"]?.string?.contains("joserfc") == true) }
    }

    @Test func `what an organisation chose stands in its tokens octet by octet`() async throws {
        for text in ["https://BANK.example:443/%41/", "urn:x:y", #"a"b\c"#, "'{}[],:"] {
            let answer = try await judge([
                question(
                    "transport_token", try transportToken(transportTokens(issuer: text)),
                    secret: Self.secretText)
            ])
            #expect(answer.first?["claims"]?["iss"]?.string == text)
        }
    }

    /// R-003-24: at most 60 seconds.
    @Test(arguments: [(Int64(9), Int64(0)), (61, 0), (300, 0), (-1, 0), (60, -1), (60, 10)])
    func `times outside their range make no profile`(lifetime: Int64, backdating: Int64) throws {
        let text = try #require(ClaimText("x"))
        #expect(
            TransportTokenProfile(
                clientId: text, issuer: text, audience: text, lifetime: lifetime,
                backdating: backdating) == nil)
    }

    @Test(arguments: ["", " ", "a b", "a\n", "é", "\u{0}", String(repeating: "a", count: 513)])
    func `a claim is one word of printable ASCII`(text: String) {
        #expect(ClaimText(text) == nil)
    }

    // MARK: Client attestations

    @Test func `ABCA 4: the raw octets of an attestation's header and payload`() throws {
        let install = try PrivateKey.generate(.ES256).publicJWK
        let signer = try signer(.ES256, AssertionProfile(backdating: 5))
        let profile = try #require(AttestationProfile(lifetime: 120))
        let jti = try JTI.random(at: Self.now)
        let text = try signer.attestation(
            of: install, jti: jti, times: signer.times(now: Self.now, of: profile)
        ).expose()
        let jws = try CompactJWS(parsing: text.utf8)
        guard case .p256(let x, let y) = install.material else { return }
        #expect(
            String(
                decoding: Base64URL.decode(String(text.prefix { $0 != "." })) ?? [], as: UTF8.self)
                == #"{"alg":"ES256","kid":"key-1","typ":"oauth-client-attestation+jwt"}"#)
        #expect(
            String(decoding: jws.payload, as: UTF8.self)
                == #"{"sub":"s6BhdRkqt3","jti":"\#(jti)","iat":1699999995,"exp":1700000115,"cnf":{"jwk":{"kty":"EC","crv":"P-256","x":"\#(Base64URL.encode(x))","y":"\#(Base64URL.encode(y))"}}}"#
        )
    }

    @Test func `two libraries accept attestations of both algorithms, for keys of both kinds`()
        async throws
    {
        var installs: [PublicJWK] = []
        var questions: [String] = []
        var wrong: [String] = []
        for algorithm in JWSAlgorithm.allCases {
            for kind in JWSAlgorithm.allCases {
                var install = try PrivateKey.generate(kind).publicJWK
                install.kid = "a name of the install's own"
                let key = try #require(keys[algorithm]).publicJWK
                let token = try attestation(signer(algorithm), of: install)
                installs.append(install)
                questions.append(question("client_attestation", token, jwk: key))
                wrong.append(
                    question(
                        "client_attestation", token,
                        jwk: try PrivateKey.generate(algorithm).publicJWK))
            }
        }
        for (answer, install) in zip(try await judge(questions), installs) {
            #expect(answer["fault"] == nil, "\(answer)")
            #expect(answer["thumbprint"]?.string == install.thumbprint)
            #expect(answer["claims"]?["sub"]?.string == clientId.rawValue)
        }
        for answer in try await judge(wrong) { #expect(answer["fault"] != nil) }
    }

    @Test(arguments: [Int64(29), 301, 0, -300, .max])
    func `an attestation lives for 30 to 300 seconds`(lifetime: Int64) {
        #expect(AttestationProfile(lifetime: lifetime) == nil)
    }

    // MARK: One is never taken for another

    /// RFC 8725 §3.11, §3.12: whatever the type of a client's assertions is, `none` too.
    @Test(arguments: AssertionProfile.HeaderType.allCases)
    func `neither is accepted as a client assertion`(type: AssertionProfile.HeaderType) throws {
        let signer = try signer(.ES256, AssertionProfile(type: type))
        var published = try #require(keys[.ES256]).publicJWK
        published.kid = "key-1"
        let verifier = ClientAssertionVerifier(
            clientId: clientId, issuers: [issuer], profile: signer.profile, keys: [published])
        let attestation = try attestation(signer, of: PrivateKey.generate(.ES256).publicJWK)
        #expect(throws: ClientAssertionError.claim("iss")) {
            try ClientAssertion(parsing: attestation)
        }
        let transport = try transportToken(transportTokens(issuer: clientId.rawValue))
        #expect(throws: ClientAssertionError.malformed(.algorithm)) {
            try ClientAssertion(parsing: transport)
        }
        // And an assertion is: the refusals above are not for something else that is wrong.
        let assertion = try signer.assertion(
            audience: issuer, dpopJkt: try #require(DpopJkt(published.thumbprint)),
            jti: JTI.random(at: Self.now), times: signer.times(now: Self.now)
        ).expose()
        let verified = try verifier.verify(
            ClientAssertion(parsing: assertion), audience: nil, now: Self.now)
        #expect(verified.clientId == clientId)
    }

    /// Even one that says all that an assertion says, but with the attestation's type.
    @Test(arguments: AssertionProfile.HeaderType.allCases)
    func `the type of an attestation alone keeps it out`(type: AssertionProfile.HeaderType) throws {
        let key = try #require(keys[.ES256])
        let profile = try #require(AssertionProfile(type: type))
        var published = key.publicJWK
        published.kid = "key-1"
        let verifier = ClientAssertionVerifier(
            clientId: clientId, issuers: [issuer], profile: profile, keys: [published])
        let jti = try JTI.random(at: Self.now)
        let token = try JWSBuilder.compact(
            header: Array(
                #"{"alg":"ES256","kid":"key-1","typ":"oauth-client-attestation+jwt"}"#.utf8),
            payload: Array(
                #"{"iss":"s6BhdRkqt3","sub":"s6BhdRkqt3","aud":"\#(issuer)","jti":"\#(jti)","iat":1700000000,"exp":1700000060}"#
                    .utf8)
        ) { (input) throws(KeyError) in try key.sign(input) }
        #expect(throws: ClientAssertionError.type) {
            try verifier.verify(ClientAssertion(parsing: token), audience: nil, now: Self.now)
        }
    }

    @Test func `the judge takes neither for the other`() async throws {
        let key = try #require(keys[.ES256]).publicJWK
        let transport = try transportToken(transportTokens())
        let attestation = try attestation(signer(), of: PrivateKey.generate(.ES256).publicJWK)
        let answers = try await judge([
            question("transport_token", attestation, secret: Self.secretText),
            question("client_attestation", transport, jwk: key),
            question("transport_token", transport, secret: Self.secretText, now: Self.now + 60),
            question("client_attestation", attestation, jwk: key, now: Self.now + 300),
        ])
        for answer in answers { #expect(answer["fault"] != nil) }
    }
}
