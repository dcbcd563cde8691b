import AssertionMint
import JOSE
import TestKit
import Testing

/// Each case breaks exactly one rule of standards §2.3 in an otherwise good assertion.
@Suite struct ClientAssertionVerifierTests {
    static let now: Int64 = 1_800_000_000
    static let issuer = "https://idp.example/t1"
    static let jkt = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
    static let jti = "AAECAwQFBgcICQoLDA0ODxAR"

    /// An assertion as JSON texts, so that any part can be broken.
    struct Parts: Sendable {
        var header: [(name: String, value: String)] = [
            ("alg", "\"ES256\""), ("kid", "\"k1\""), ("typ", "\"client-authentication+jwt\""),
        ]
        var claims: [(name: String, value: String)] = [
            ("iss", "\"app\""), ("sub", "\"app\""), ("aud", "\"\(issuer)\""),
            ("jti", "\"\(jti)\""), ("iat", "\(now)"), ("exp", "\(now + 60)"),
            ("cnf", "{\"jkt\":\"\(jkt)\"}"),
        ]
        /// Instead of what the members above make.
        var payload: String?

        /// `nil` takes the member away.
        mutating func set(header name: String, _ value: String?) {
            header.removeAll { $0.name == name }
            if let value { header.append((name, value)) }
        }

        mutating func set(claim name: String, _ value: String?) {
            claims.removeAll { $0.name == name }
            if let value { claims.append((name, value)) }
        }

        func token(signedBy key: PrivateKey) throws -> String {
            try JWSBuilder.compact(
                header: Array(Self.object(header).utf8),
                payload: Array((payload ?? Self.object(claims)).utf8)
            ) { (input) throws(KeyError) in try key.sign(input) }
        }

        private static func object(_ members: [(name: String, value: String)]) -> String {
            "{" + members.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",") + "}"
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let error: ClientAssertionError?
        let change: @Sendable (inout Parts) -> Void
    }

    static func header(_ name: String, _ value: String?, _ error: ClientAssertionError?) -> Case {
        Case(testDescription: "header \(name): \(value ?? "absent")", error: error) {
            $0.set(header: name, value)
        }
    }

    static func claim(_ name: String, _ value: String?, _ error: ClientAssertionError?) -> Case {
        Case(testDescription: "claim \(name): \(value ?? "absent")", error: error) {
            $0.set(claim: name, value)
        }
    }

    let key: PrivateKey
    let other: PrivateKey

    init() throws {
        key = try PrivateKey.generate(.ES256)
        other = try PrivateKey.generate(.ES256)
    }

    func published(_ key: PrivateKey, _ kid: String) -> PublicJWK {
        var jwk = key.publicJWK
        jwk.kid = kid
        return jwk
    }

    func verifier(
        _ profile: AssertionProfile? = AssertionProfile(), clientId: String = "app",
        issuers: [String] = [issuer, "https://idp.example/t2"], keys: [PublicJWK]? = nil
    ) throws -> ClientAssertionVerifier {
        ClientAssertionVerifier(
            clientId: try #require(ClientId(clientId)),
            issuers: try issuers.map { try #require(Issuer($0)) }, profile: try #require(profile),
            keys: keys ?? [published(other, "k0"), published(key, "k1")])
    }

    /// What becomes of a token; `nil`: accepted.
    func outcome(
        _ token: String, _ verifier: ClientAssertionVerifier, audience: String? = nil,
        now: Int64 = now
    ) -> ClientAssertionError? {
        do throws(ClientAssertionError) {
            _ = try verifier.verify(
                try ClientAssertion(parsing: token), audience: audience, now: now)
            return nil
        } catch { return error }
    }

    // MARK: Accepted

    @Test func `a good assertion says what it was made with`() throws {
        let token = try Parts().token(signedBy: key)
        let verified = try verifier().verify(
            ClientAssertion(parsing: token), audience: Self.issuer, now: Self.now)
        #expect(verified.clientId.rawValue == "app")
        #expect(verified.kid == "k1")
        #expect(verified.algorithm == .ES256)
        #expect(verified.jti.rawValue == Self.jti)
        #expect(verified.audience.rawValue == Self.issuer)
        #expect(verified.times.issuedAt == Self.now)
        #expect(verified.times.expiresAt == Self.now + 60)
        #expect(verified.dpopJkt?.rawValue == Self.jkt)
        #expect(verified.replayHash == SHA256.hash("app \(Self.jti)".utf8))
    }

    @Test(arguments: JWSAlgorithm.allCases, AssertionProfile.HeaderType.allCases)
    func `what the signer makes for a client, its verifier takes, and no other client's`(
        algorithm: JWSAlgorithm, type: AssertionProfile.HeaderType
    ) throws {
        let profile = try #require(AssertionProfile(type: type, lifetime: 300, backdating: 10))
        let key = try PrivateKey.generate(algorithm)
        let signer = AssertionSigner(
            clientId: try #require(ClientId("app")), key: key, kid: "k", profile: profile)
        let jti = try JTI.random(at: Self.now)
        let token = try signer.assertion(
            audience: try #require(Issuer(Self.issuer)), dpopJkt: try #require(DpopJkt(Self.jkt)),
            jti: jti, times: signer.times(now: Self.now)
        ).expose()
        let verifier = try verifier(profile, keys: [published(key, "k")])
        let verified = try verifier.verify(
            ClientAssertion(parsing: token), audience: nil, now: Self.now)
        #expect(verified.jti == jti)
        let stranger = try self.verifier(profile, clientId: "ap", keys: [published(key, "k")])
        #expect(outcome(token, stranger) == .client)
        for otherType in AssertionProfile.HeaderType.allCases where otherType != type {
            let profile = AssertionProfile(type: otherType, lifetime: 300, backdating: 10)
            let verifier = try self.verifier(profile, keys: [published(key, "k")])
            #expect(outcome(token, verifier) == .type)
        }
    }

    static let accepted: [Case] = [
        header("typ", "\"application/client-authentication+jwt\"", nil),
        header("typ", "\"Client-Authentication+JWT\"", nil), header("x", "[1]", nil),
        claim("aud", "\"https://idp.example/t2\"", nil), claim("cnf", nil, nil),
        claim("cnf", "{\"jkt\":\"\(jkt)\",\"x\":1}", nil), claim("x", "{\"y\":[null]}", nil),
        claim("iat", "\(now + 10)", nil), claim("iat", "\(now + 59)", nil),
        claim("nbf", "\(now)", nil), claim("nbf", "\(now + 60)", nil), claim("nbf", "0", nil),
        claim("exp", "\(now + 1)", nil),
    ]

    @Test(arguments: accepted)
    func `what the standards ask to accept is accepted`(_ variant: Case) throws {
        var parts = Parts()
        variant.change(&parts)
        #expect(outcome(try parts.token(signedBy: key), try verifier()) == nil)
    }

    // MARK: Refused

    static let claims: [Case] = [
        claim("iss", nil, .claim("iss")), claim("iss", "7", .claim("iss")),
        claim("iss", "\"\"", .claim("iss")), claim("iss", "\"a p\"", .claim("iss")),
        claim("iss", "\"other\"", .claim("sub")), claim("sub", nil, .claim("sub")),
        claim("sub", "\"other\"", .claim("sub")), claim("sub", "null", .claim("sub")),
        claim("sub", "[\"app\"]", .claim("sub")),
        claim("aud", nil, .audience), claim("aud", "[\"\(issuer)\"]", .audience),
        claim("aud", "[\"\(issuer)\",\"x\"]", .audience), claim("aud", "[]", .audience),
        claim("aud", "\"\(issuer)/\"", .audience), claim("aud", "\"\(issuer)/token\"", .audience),
        claim("aud", "\"https://idp.example\"", .audience),
        claim("aud", "\"https://IDP.example/t1\"", .audience),
        claim("aud", "\"https://idp.example:443/t1\"", .audience),
        claim("aud", "\"https://evil.example\"", .audience), claim("aud", "{}", .audience),
        claim("exp", nil, .claim("exp")), claim("exp", "\"\(now + 60)\"", .claim("exp")),
        claim("exp", "\(now + 60).0", .claim("exp")), claim("exp", "\(now + 60).5", .claim("exp")),
        claim("exp", "1.8e9", .claim("exp")), claim("exp", "-1", .claim("exp")),
        claim("exp", "1e300", .claim("exp")), claim("exp", "null", .claim("exp")),
        claim("exp", "9223372036854775807", .claim("exp")),
        claim("exp", "9223372036854775808", .claim("exp")),
        claim("exp", "\(now + 61)", .tooLongLived), claim("exp", "9007199254740992", .tooLongLived),
        claim("iat", nil, .claim("iat")), claim("iat", "\"\(now)\"", .claim("iat")),
        claim("iat", "\(now).0", .claim("iat")), claim("iat", "-1", .claim("iat")),
        claim("iat", "true", .claim("iat")), claim("iat", "\(now + 60)", .claim("iat")),
        claim("iat", "\(now + 61)", .claim("iat")), claim("iat", "\(now - 1)", .tooLongLived),
        claim("iat", "0", .tooLongLived), claim("nbf", "\(now + 61)", .notYetValid),
        claim("nbf", "\"\(now)\"", .claim("nbf")), claim("nbf", "\(now).5", .claim("nbf")),
        claim("jti", nil, .claim("jti")), claim("jti", "\"\"", .claim("jti")),
        claim("jti", "7", .claim("jti")), claim("jti", "\"AAECAwQFBgcICQoLDA0OD\"", .claim("jti")),
        claim("jti", "\"AAECAwQFBgcICQoLDA0ODxARA\"", .claim("jti")),
        claim("jti", "\"AAECAwQFBgcICQoLDA0ODx\"", .claim("jti")),
        claim("jti", "\"AAECAwQFBgcICQoLDA0ODxA+\"", .claim("jti")),
        claim("jti", "\"AAECAwQFBgcICQoLDA0ODxA=\"", .claim("jti")),
        claim("cnf", "{}", .claim("cnf")), claim("cnf", "null", .claim("cnf")),
        claim("cnf", "\"\(jkt)\"", .claim("cnf")),
        claim("cnf", "{\"jkt\":\"short\"}", .claim("cnf")),
        claim("cnf", "{\"jkt\":7}", .claim("cnf")),
    ]

    static let headers: [Case] = [
        header("typ", nil, .type), header("typ", "\"JWT\"", .type),
        header("typ", "\"dpop+jwt\"", .type), header("typ", "\"at+jwt\"", .type),
        header("typ", "\"oauth-client-attestation+jwt\"", .type), header("typ", "\"\"", .type),
        header("typ", "\"client-authentication+jwt \"", .type),
        header("typ", "7", .malformed(.headerMember("typ"))),
        header("alg", nil, .malformed(.algorithm)),
        header("alg", "\"none\"", .malformed(.algorithm)),
        header("alg", "\"HS256\"", .malformed(.algorithm)),
        header("alg", "\"RS256\"", .malformed(.algorithm)),
        header("alg", "\"PS256\"", .signature), header("kid", nil, .unknownKey),
        header("kid", "\"\"", .unknownKey), header("kid", "\"K1\"", .unknownKey),
        header("kid", "\"k2\"", .unknownKey), header("kid", "\"k0\"", .signature),
        // The Kelvin sign, which Unicode takes for a K.
        header("kid", "\"\u{212A}1\"", .unknownKey),
        header("crit", "[\"exp\"]", .malformed(.criticalExtension)),
        header("b64", "true", .malformed(.criticalExtension)),
        header("jwk", "{\"kty\":\"EC\"}", .malformed(.headerMember("jwk"))),
        header("jku", "\"https://evil.example\"", .malformed(.headerMember("jku"))),
        header("x5u", "\"https://evil.example\"", .malformed(.headerMember("x5u"))),
        header("x5c", "[]", .malformed(.headerMember("x5c"))),
    ]

    @Test(arguments: claims + headers)
    func `an assertion that breaks one rule is refused`(_ broken: Case) throws {
        var parts = Parts()
        broken.change(&parts)
        #expect(outcome(try parts.token(signedBy: key), try verifier()) == broken.error)
        #expect(outcome(try Parts().token(signedBy: key), try verifier()) == nil)
    }

    @Test(arguments: ["{", "[]", "\"x\"", "hello", "", "{\"iss\":\"app\",\"iss\":\"app\"}"])
    func `claims that are no strict JSON object are refused`(payload: String) throws {
        var parts = Parts()
        parts.payload = payload
        guard case .malformed = outcome(try parts.token(signedBy: key), try verifier()) else {
            Issue.record("accepted, or refused for another reason")
            return
        }
    }

    @Test(
        arguments: [
            (-61, .notYetValid), (-60, nil), (-10, nil), (0, nil), (59, nil), (60, .expired),
            (61, .expired), (100_000, .expired),
        ] as [(Int64, ClientAssertionError?)])
    func `time is judged by the clock it is given`(later: Int64, error: ClientAssertionError?)
        throws
    {
        let token = try Parts().token(signedBy: key)
        #expect(outcome(token, try verifier(), now: Self.now + later) == error)
    }

    @Test(
        arguments: [
            (issuer, nil), ("https://idp.example/t2", .audience), (issuer + "/", .audience),
            ("", .audience), ("https://evil.example", .audience),
        ] as [(String, ClientAssertionError?)])
    func `an audience that is asked for must be the assertion's`(
        audience: String, error: ClientAssertionError?
    ) throws {
        let token = try Parts().token(signedBy: key)
        #expect(outcome(token, try verifier(), audience: audience) == error)
    }

    @Test func `a signature by another key, or over other octets, is refused`() throws {
        #expect(outcome(try Parts().token(signedBy: other), try verifier()) == .signature)
        #expect(outcome(try Parts().token(signedBy: key), try verifier(keys: [])) == .unknownKey)
        let good = try Parts().token(signedBy: key).split(separator: ".").map(String.init)
        var otherParts = Parts()
        otherParts.set(claim: "jti", "\"AAECAwQFBgcICQoLDA0ODxAS\"")
        let swapped = try otherParts.token(signedBy: key).split(separator: ".").map(String.init)
        let mixed = [good[0], swapped[1], good[2]].joined(separator: ".")
        #expect(outcome(mixed, try verifier()) == .signature)
    }

    @Test func `every flipped bit of a good assertion is refused`() throws {
        let token = Array(try Parts().token(signedBy: key).utf8)
        let verifier = try verifier()
        var random = SeededRandom(seed: 7)
        for _ in 0..<600 {
            var broken = token
            broken[Int.random(in: 0..<token.count, using: &random)] ^=
                1 << UInt8.random(in: 0..<7, using: &random)
            #expect(outcome(String(decoding: broken, as: UTF8.self), verifier) != nil)
        }
    }

    // MARK: Outside judges

    @Test func `published and project-made vectors`() throws {
        let vectors = try JSONValue(
            parsing: Fixtures.bytes("Fixtures/Vectors/rfc-examples.json"), maximumDepth: 32)
        func verifier(_ vector: JSONValue?) throws -> ClientAssertionVerifier {
            try self.verifier(
                clientId: "s6BhdRkqt3", issuers: ["https://server.example.com"],
                keys: [try PublicJWK(try #require(vector?["public_jwk"]))])
        }
        func text(_ vector: JSONValue?, _ name: String) throws -> String {
            try #require(vector?[name]?.string)
        }
        let made: Int64 = 1_700_000_000
        let es = vectors["project_made_es256_client_assertion"]
        #expect(outcome(try text(es, "client_assertion"), try verifier(es), now: made) == nil)
        let variants = try #require(es?["variants"])
        #expect(
            outcome(
                try text(variants, "r_with_leading_zero_octet_verifies"), try verifier(es),
                now: made) == nil)
        #expect(
            outcome(
                try text(variants, "r_leading_zero_dropped_63_octets_must_be_refused"),
                try verifier(es), now: made) == .signature)
        let ps = try #require(vectors["project_made_ps256_client_assertion"])
        let signatures = try #require(ps.members).filter { $0.name.hasPrefix("signature_") }
        #expect(signatures.count >= 5)
        for signature in signatures {
            let token =
                "\(try text(ps, "signing_input")).\(try #require(signature.value.string))"
            let error = outcome(token, try verifier(ps), now: made)
            #expect(error == (signature.name.hasSuffix("_verifies") ? nil : .signature))
        }
        let rs = vectors["rfc9126_section_2_1_client_assertion_rs256"]
        #expect(
            outcome(try text(rs, "client_assertion"), try verifier(rs), now: 1_625_869_000)
                == .malformed(.algorithm))
    }

    @Test(arguments: ["PyJWT", "joserfc"], JWSAlgorithm.allCases)
    func `assertions of other implementations are taken, and refused when expired`(
        library: String, algorithm: JWSAlgorithm
    ) async throws {
        let claims = """
            {"iss":"app","sub":"app","aud":"\(Self.issuer)","jti":"\(Self.jti)","iat":\(Self.now),\
            "exp":\(Self.now + 60)}
            """
        let answer = try await Oracle.ask(
            "assertions.py",
            [
                """
                {"library":"\(library)","alg":"\(algorithm.rawValue)","claims":\(claims),\
                "header":{"kid":"k","typ":"client-authentication+jwt"}}
                """
            ])[0]
        let token = try #require(answer["token"]?.string)
        var jwk = try PublicJWK(try #require(answer["jwk"]))
        jwk.kid = "k"
        let verifier = try verifier(keys: [jwk])
        #expect(outcome(token, verifier) == nil)
        #expect(outcome(token, verifier, now: Self.now + 60) == .expired)
        #expect(outcome(token, try self.verifier(keys: [published(key, "k")])) == .signature)
    }
}
