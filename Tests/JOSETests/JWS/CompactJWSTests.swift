import JOSE
import Testing

@Suite struct CompactJWSTests {
    private static let signature = Base64URL.encode([UInt8](repeating: 1, count: 64))

    private static func token(_ header: String, _ claims: String = "{}") -> String {
        [Base64URL.encode(Array(header.utf8)), Base64URL.encode(Array(claims.utf8)), signature]
            .joined(separator: ".")
    }

    private static func parse(_ text: String) throws(JWSError) -> CompactJWS {
        try CompactJWS(parsing: text.utf8)
    }

    @Test func `the parts of a token`() throws {
        let text = Self.token(#"{"alg":"PS256","kid":"k","typ":"JWT","x":[1]}"#, #"{"iss":"c"}"#)
        let jws = try Self.parse(text)
        #expect(jws.algorithm == .PS256)
        #expect(jws.kid == "k")
        #expect(jws.type == "JWT")
        #expect(jws.header["x"]?.array?.count == 1)
        #expect(jws.payload == Array(#"{"iss":"c"}"#.utf8))
        #expect(try jws.claims()["iss"]?.string == "c")
        #expect(jws.signature == [UInt8](repeating: 1, count: 64))
        #expect(jws.signingInput == Array(text.utf8.dropLast(Self.signature.utf8.count + 1)))
    }

    @Test(arguments: [
        "", ".", "..", "...", "a", "a.b", "e30.e30", "e30.e30.", ".e30.e30", "e30.e30.AAAA.AAAA",
        "e30.e30.AAAA.AAAA.AAAA",
        "e30.e30.AAAA.", ".e30.e30.AAAA",
    ])
    func `anything but three segments with a header and a signature is refused`(text: String) {
        #expect(throws: JWSError.notThreeSegments) { try Self.parse(text) }
    }

    @Test func `standards 3.5: the JSON serialisations are refused`() {
        #expect(throws: JWSError.notThreeSegments) {
            try Self.parse(#"{"protected":"e30","payload":"e30","signature":"AAAA"}"#)
        }
        #expect(throws: JWSError.self) {
            try Self.parse(#"{"payload":"a.b.c","signatures":[]}"#)
        }
    }

    @Test(arguments: [0, 1, 2], ["=", "+", "/", " ", "\n", "é", "*"])
    func `a segment that is not canonical base64url is refused`(segment: Int, stray: String) {
        var segments = Self.token(#"{"alg":"ES256"}"#).split(separator: ".").map(String.init)
        segments[segment] += stray
        #expect(throws: JWSError.notBase64URL) {
            try Self.parse(segments.joined(separator: "."))
        }
    }

    @Test func `a second spelling of the signature is refused`() {
        let text = Self.token(#"{"alg":"ES256"}"#)
        // 64 octets end with four stray bits: B in place of A spells the same octets.
        #expect(text.hasSuffix("Q"))
        #expect(throws: JWSError.notBase64URL) { try Self.parse(text.dropLast() + "R") }
    }

    @Test(arguments: [
        "none", "None", "NONE", "nOnE", "", "HS256", "HS384", "HS512", "RS256", "RS384", "RS512",
        "ES384", "ES512", "ES256K",
        "EdDSA", "PS384", "PS512", "es256", "ES256 ", "RSA-OAEP", "dir",
    ])
    func `standards 3.4: any algorithm but ES256 and PS256 is refused`(name: String) {
        #expect(throws: JWSError.algorithm) { try Self.parse(Self.token(#"{"alg":"\#(name)"}"#)) }
    }

    @Test(
        arguments: [
            ("{}", .algorithm), (#"{"alg":null}"#, .headerMember("alg")),
            (#"{"alg":["ES256"]}"#, .headerMember("alg")),
            (#"{"alg":256}"#, .headerMember("alg")), (#"{"ALG":"ES256"}"#, .algorithm),
            (#"{"alg":"ES256","kid":1}"#, .headerMember("kid")),
            (#"{"alg":"ES256","kid":null}"#, .headerMember("kid")),
            (#"{"alg":"ES256","typ":["JWT"]}"#, .headerMember("typ")),
            (#"["ES256"]"#, .headerMember("header")),
            (#""ES256""#, .headerMember("header")), ("null", .headerMember("header")),
            ("1", .headerMember("header")),
            (#"{"alg":"ES256","crit":["exp"],"exp":1}"#, .criticalExtension),
            (#"{"alg":"ES256","crit":[]}"#, .criticalExtension),
            (#"{"alg":"ES256","crit":null}"#, .criticalExtension),
            (#"{"alg":"ES256","crit":["b64"],"b64":false}"#, .criticalExtension),
            (#"{"alg":"ES256","b64":true}"#, .criticalExtension),
            (#"{"alg":"ES256","\u0063rit":[]}"#, .criticalExtension),
        ] as [(String, JWSError)])
    func `a header with one thing wrong is refused`(header: String, error: JWSError) {
        #expect(throws: error) { try Self.parse(Self.token(header)) }
    }

    @Test(
        arguments: [
            (#"{"alg":"none","alg":"ES256"}"#, .duplicateMember),
            (#"{"alg":"ES256","alg":"ES256"}"#, .duplicateMember),
            (#"{"alg":"ES256","\u0061lg":"none"}"#, .duplicateMember),
            (#"{"alg":"ES256"}x"#, .trailingBytes),
            (#"{"alg":"ES256"}{}"#, .trailingBytes), ("\u{feff}{\"alg\":\"ES256\"}", .notUTF8),
            ("{'alg':'ES256'}", .unexpectedCharacter),
            (#"{"alg":"ES256",}"#, .unexpectedCharacter), (#"{"alg":"ES256""#, .unexpectedEnd),
        ] as [(String, JSONError.Reason)])
    func `standards 3.5: a header that is not strict JSON is refused`(
        header: String, reason: JSONError.Reason
    ) {
        do {
            _ = try Self.parse(Self.token(header))
            Issue.record("accepted \(header)")
        } catch {
            guard case .header(let fault) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(fault.reason == reason)
        }
    }

    @Test(
        arguments: [
            (#"{"iss":"a","iss":"b"}"#, .duplicateMember),
            (#"{"aud":"a","\u0061ud":"b"}"#, .duplicateMember),
            ("{} ,", .trailingBytes), ("\u{feff}{}", .notUTF8), ("", .unexpectedEnd),
            ("{", .unexpectedEnd),
        ] as [(String, JSONError.Reason)])
    func `standards 3.5: claims that are not strict JSON are refused`(
        claims: String, reason: JSONError.Reason
    ) throws {
        let jws = try Self.parse(Self.token(#"{"alg":"ES256"}"#, claims))
        do {
            _ = try jws.claims()
            Issue.record("accepted \(claims)")
        } catch {
            guard case .payload(let fault) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(fault.reason == reason)
        }
    }

    @Test(arguments: ["[]", "\"{}\"", "null", "1", "true"])
    func `claims that are no object are refused`(claims: String) throws {
        let jws = try Self.parse(Self.token(#"{"alg":"ES256"}"#, claims))
        #expect(throws: JWSError.payloadMember("payload")) { try jws.claims() }
    }

    @Test func `8192 octets are looked at, one more is refused`() throws {
        let overhead = Self.token(#"{"alg":"ES256"}"#, "").utf8.count
        func token(length: Int) -> String {
            let encoded = String(repeating: "A", count: length - overhead)
            return Self.token(#"{"alg":"ES256"}"#, "").replacing("..", with: ".\(encoded).")
        }
        #expect(throws: Never.self) { try Self.parse(token(length: 8192)) }
        #expect(throws: JWSError.tooLong) { try Self.parse(token(length: 8193)) }
        #expect(throws: JWSError.tooLong) {
            try Self.parse(String(repeating: ".", count: 1_000_000))
        }
    }

    @Test(arguments: ["jwk", "jku", "x5u", "x5c"])
    func `a key the token brings along can be refused`(name: String) throws {
        let jws = try Self.parse(Self.token(#"{"alg":"ES256","\#(name)":null}"#))
        #expect(throws: JWSError.headerMember(name)) { try jws.refuseEmbeddedKeys() }
        let plain = try Self.parse(Self.token(#"{"alg":"ES256","kid":"a"}"#))
        #expect(throws: Never.self) { try plain.refuseEmbeddedKeys() }
    }

    @Test(arguments: [
        ("dpop+jwt", true), ("DPoP+JWT", true), ("application/dpop+jwt", true),
        ("Application/DPOP+jwt", true),
        ("jwt", false), ("dpop+jwt ", false), ("x-application/dpop+jwt", false),
        ("application/application/dpop+jwt", false),
        ("application/", false), ("", false),
    ])
    func `RFC 7515 §4.1.9: a type is compared as a media type`(type: String, same: Bool) throws {
        let jws = try Self.parse(Self.token(#"{"alg":"ES256","typ":"\#(type)"}"#))
        #expect(jws.hasType("dpop+jwt") == same)
    }

    @Test func `a token without a type has none`() throws {
        #expect(try !Self.parse(Self.token(#"{"alg":"ES256"}"#)).hasType(""))
    }

    @Test(arguments: JWSAlgorithm.allCases)
    func `only the key that signed, for the algorithm it signs, is accepted`(
        algorithm: JWSAlgorithm
    ) throws {
        let key = try TestKeys.key(algorithm)
        let header = Array(#"{"alg":"\#(algorithm.rawValue)"}"#.utf8)
        let text = try JWSBuilder.compact(header: header, payload: Array("{}".utf8)) {
            (input) throws(KeyError) in try key.sign(input)
        }
        let jws = try Self.parse(text)
        let verifier = try PublicKey(key.publicJWK)
        #expect(jws.isSigned(by: verifier))
        #expect(try !jws.isSigned(by: PublicKey(PrivateKey.generate(algorithm).publicJWK)))

        // The same signature under a header that names the other algorithm.
        let other = algorithm == .ES256 ? "PS256" : "ES256"
        let segments = text.split(separator: ".")
        let forged = try Self.parse(
            "\(Base64URL.encode(Array(#"{"alg":"\#(other)"}"#.utf8))).\(segments[1]).\(segments[2])"
        )
        #expect(!forged.isSigned(by: verifier))
    }

    @Test func `every altered octet of header and payload breaks the signature`() throws {
        let key = try PrivateKey.generate(.ES256)
        let verifier = try PublicKey(key.publicJWK)
        let input = Array("eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJjIn0".utf8)
        let signature = try key.sign(input)
        for index in input.indices {
            var altered = input
            altered[index] ^= 1
            #expect(!verifier.verifies(signature, over: altered))
        }
        #expect(!verifier.verifies(signature, over: []))
        #expect(!verifier.verifies(signature, over: input + [0]))
    }
}
