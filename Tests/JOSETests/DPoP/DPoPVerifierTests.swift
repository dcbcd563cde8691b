import JOSE
import TestKit
import Testing

/// RFC 9449 §4.3: for each check, a proof in which only that one thing is wrong.
@Suite struct DPoPVerifierTests {
    private static let now: Int64 = 1_700_000_000
    private let key: PrivateKey
    private let uri: HTTPTargetURI

    init() throws {
        key = try PrivateKey.generate(.ES256)
        uri = try #require(HTTPTargetURI("https://broker.example/v1/assertions"))
    }

    private func proof(_ change: (inout DPoPProof) -> Void = { _ in }) throws -> String {
        var proof = DPoPProof(htm: "POST", uri: uri, jti: "4f1f", iat: Self.now)
        change(&proof)
        return try proof.compact(jwk: key.publicJWK) { (input) throws(KeyError) in
            try key.sign(input)
        }
    }

    /// A proof with header and claims as text, signed by `key`.
    private func signed(header: String? = nil, claims: String? = nil) throws -> String {
        let jwk = key.publicJWK.jsonText(asSigningKey: false)
        let header = header ?? #"{"typ":"dpop+jwt","alg":"ES256","jwk":\#(jwk)}"#
        let claims = claims ?? Self.claims()
        return try JWSBuilder.compact(header: Array(header.utf8), payload: Array(claims.utf8)) {
            (input) throws(KeyError) in try key.sign(input)
        }
    }

    private static func claims(
        jti: String? = "\"4f1f\"", htm: String? = "\"POST\"",
        htu: String? = "\"https://broker.example/v1/assertions\"", iat: String? = "1700000000",
        more: String = ""
    ) -> String {
        let members = [("jti", jti), ("htm", htm), ("htu", htu), ("iat", iat)]
        return "{"
            + members.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
            .joined(separator: ",") + more + "}"
    }

    @discardableResult
    private func verify(
        _ proof: String, method: String = "POST", accessToken: String? = nil,
        acceptsNonce: (String?) -> Bool = { _ in true }
    ) throws -> VerifiedDPoPProof {
        try DPoPVerifier().verify(
            proof, method: method, uri: uri, now: Self.now, accessToken: accessToken,
            acceptsNonce: acceptsNonce)
    }

    @Test func `verify undoes compact`() throws {
        let verified = try verify(proof { $0.nonce = "n" })
        #expect(verified.jkt == DpopJkt(of: key.publicJWK))
        #expect(verified.key == key.publicJWK)
        #expect(verified.jti == "4f1f")
        #expect(verified.htu == uri.normalized)
        #expect(verified.iat == Self.now)
        #expect(verified.nonce == "n")
    }

    @Test func `the hand-made proof of this suite is good before anything is changed`() throws {
        #expect(throws: Never.self) { try verify(signed()) }
        #expect(throws: Never.self) {
            try verify(signed(claims: Self.claims(more: #","extra":{"a":[1]},"exp":1"#)))
        }
    }

    @Test(arguments: ["", "a", "a.b.c", "a.b", "..", "e30.e30.AAAA"])
    func `check 2: what is no JWT is refused`(text: String) {
        #expect(throws: DPoPError.self) { try verify(text) }
    }

    @Test func `check 1 and 2: two proofs in one field are refused`() throws {
        let one = try proof()
        for joined in ["\(one),\(one)", "\(one), \(one)", " \(one)", "\(one) "] {
            #expect(throws: DPoPError.self) { try verify(joined) }
        }
    }

    @Test(arguments: ["jti", "htm", "htu", "iat"])
    func `check 3: a missing claim is refused`(name: String) throws {
        let claims = Self.claims(
            jti: name == "jti" ? nil : "\"a\"", htm: name == "htm" ? nil : "\"POST\"",
            htu: name == "htu" ? nil : "\"https://broker.example/v1/assertions\"",
            iat: name == "iat" ? nil : "1700000000")
        #expect(throws: DPoPError.claim(name)) { try verify(signed(claims: claims)) }
    }

    @Test(arguments: [
        ("jti", claims(jti: "1")), ("jti", claims(jti: "null")), ("jti", claims(jti: "\"\"")),
        ("jti", claims(jti: "\"\(String(repeating: "a", count: 129))\"")),
        ("htm", claims(htm: "[\"POST\"]")),
        ("htu", claims(htu: "null")), ("iat", claims(iat: "\"1700000000\"")),
        ("iat", claims(iat: "null")),
        ("iat", claims(iat: "-1")), ("iat", claims(iat: "1e300")), ("iat", claims(iat: "1e999")),
        ("nonce", claims(more: #","nonce":1"#)),
        ("nonce", claims(more: #","nonce":null"#)),
    ])
    func `check 3: a claim of the wrong form is refused`(name: String, claims: String) throws {
        #expect(throws: DPoPError.claim(name)) { try verify(signed(claims: claims)) }
    }

    @Test func `a jti of 128 octets is the longest`() throws {
        let longest = "\"\(String(repeating: "a", count: 128))\""
        #expect(throws: Never.self) { try verify(signed(claims: Self.claims(jti: longest))) }
        let tooLong = "\"\(String(repeating: "é", count: 65))\""
        #expect(throws: DPoPError.claim("jti")) {
            try verify(signed(claims: Self.claims(jti: tooLong)))
        }
    }

    @Test(arguments: [
        "JWT", "at+jwt", "DPOP+JWT", "application/dpop+jwt", "", "dpop+jwt ",
        "client-authentication+jwt",
    ])
    func `check 4: another type is refused`(type: String) throws {
        let jwk = key.publicJWK.jsonText(asSigningKey: false)
        #expect(throws: DPoPError.type) {
            try verify(signed(header: #"{"typ":"\#(type)","alg":"ES256","jwk":\#(jwk)}"#))
        }
        #expect(throws: DPoPError.type) {
            try verify(signed(header: #"{"alg":"ES256","jwk":\#(jwk)}"#))
        }
    }

    @Test(arguments: ["none", "HS256", "RS256", "ES384", "EdDSA", "es256"])
    func `check 5: another algorithm is refused`(name: String) throws {
        let jwk = key.publicJWK.jsonText(asSigningKey: false)
        #expect(throws: DPoPError.malformed(.algorithm)) {
            try verify(signed(header: #"{"typ":"dpop+jwt","alg":"\#(name)","jwk":\#(jwk)}"#))
        }
    }

    @Test func `check 5: an accepted algorithm that is not the key's is refused`() throws {
        let jwk = key.publicJWK.jsonText(asSigningKey: false)
        #expect(throws: DPoPError.malformed(.algorithm)) {
            try verify(signed(header: #"{"typ":"dpop+jwt","alg":"PS256","jwk":\#(jwk)}"#))
        }
    }

    @Test func `check 6: a signature by another key is refused`() throws {
        let other = try PrivateKey.generate(.ES256)
        let forged = try DPoPProof(htm: "POST", uri: uri, jti: "1", iat: Self.now)
            .compact(jwk: key.publicJWK) { (input) throws(KeyError) in try other.sign(input) }
        #expect(throws: DPoPError.signature) { try verify(forged) }
    }

    @Test func `check 6: claims of one proof under the signature of another are refused`() throws {
        let one = try proof().split(separator: ".")
        let other = try proof { $0.jti = "other" }.split(separator: ".")
        #expect(throws: DPoPError.signature) { try verify("\(one[0]).\(other[1]).\(one[2])") }
    }

    @Test(arguments: ["d", "k", "p", "oth"])
    func `check 7: a private key in the header is refused`(name: String) throws {
        let jwk = key.publicJWK.jsonText(asSigningKey: false).dropLast() + #","\#(name)":"AQAB"}"#
        #expect(throws: DPoPError.key(.privateMember(name))) {
            try verify(signed(header: #"{"typ":"dpop+jwt","alg":"ES256","jwk":\#(jwk)}"#))
        }
    }

    @Test(
        arguments: [
            (#""jwk":"text""#, DPoPError.key(.notAnObject)), (#""jwk":null"#, .key(.notAnObject)),
            (#""jwk":{}"#, .key(.badMember("kty"))),
            (#""kid":"a""#, .malformed(.headerMember("jwk"))),
            (#""jwk":{},"jku":"https://a""#, .malformed(.headerMember("jku"))),
            (#""jwk":{},"x5c":[]"#, .malformed(.headerMember("x5c"))),
            (#""jwk":{},"x5u":"""#, .malformed(.headerMember("x5u"))),
            (#""jwk":{},"crit":["jwk"]"#, .malformed(.criticalExtension)),
            (#""jwk":{"kty":"oct"}"#, .key(.unsupportedType)),
            (#""jwk":{"kty":"OKP","crv":"Ed25519","x":"AA"}"#, .key(.unsupportedType)),
        ] as [(String, DPoPError)])
    func `a header without a usable key, or with a place to find one, is refused`(
        members: String, error: DPoPError
    ) throws {
        #expect(throws: error) {
            try verify(signed(header: #"{"typ":"dpop+jwt","alg":"ES256",\#(members)}"#))
        }
    }

    @Test func `a point off the curve is refused`() throws {
        let ones = Base64URL.encode([UInt8](repeating: 1, count: 32))
        let jwk = #"{"kty":"EC","crv":"P-256","x":"\#(ones)","y":"\#(ones)"}"#
        #expect(throws: DPoPError.key(.invalidPoint)) {
            try verify(signed(header: #"{"typ":"dpop+jwt","alg":"ES256","jwk":\#(jwk)}"#))
        }
    }

    @Test(arguments: ["post", "GET", "", "POST ", "PO\u{17f}T"])
    func `check 8: another method is refused`(method: String) throws {
        #expect(throws: DPoPError.method) { try verify(proof { $0.htm = method }) }
    }

    @Test func `check 8: a method is compared without normalising`() throws {
        #expect(throws: DPoPError.method) {
            try verify(proof { $0.htm = "LOC\u{212a}" }, method: "LOCK")
        }
    }

    @Test(arguments: [
        "https://broker.example/v1/assertions/", "https://broker.example/v1/Assertions",
        "https://broker.example/v1", "http://broker.example/v1/assertions",
        "https://broker.example:8443/v1/assertions", "https://evil.example/v1/assertions",
        "https://broker.example.evil.example/v1/assertions",
        "https://user@broker.example/v1/assertions", "https://broker.example/v1%2Fassertions",
        "/v1/assertions", "", "*",
        "https://broker.example", "https://broker.example\\\\/v1/assertions",
    ])
    func `check 9: another URI is refused`(htu: String) throws {
        #expect(throws: DPoPError.uri) {
            try verify(signed(claims: Self.claims(htu: "\"\(htu)\"")))
        }
    }

    @Test(arguments: [
        "https://BROKER.example:443/v1/assertions", "HTTPS://broker.example/v1/assertions?x=1#f",
        "https://broker.example/v1/./x/../%61ssertions",
    ])
    func `check 9: the same URI in another spelling is accepted`(htu: String) throws {
        #expect(throws: Never.self) {
            try verify(signed(claims: Self.claims(htu: "\"\(htu)\"")))
        }
    }

    @Test func `check 10: a refused nonce asks for a new one, and a proof without one gives nil`()
        throws
    {
        #expect(throws: DPoPError.useNonce) { try verify(proof(), acceptsNonce: { $0 != nil }) }
        #expect(throws: DPoPError.useNonce) {
            try verify(proof { $0.nonce = "old" }, acceptsNonce: { $0 == "new" })
        }
        #expect(throws: Never.self) {
            try verify(proof { $0.nonce = "new" }, acceptsNonce: { $0 == "new" })
        }
    }

    @Test(arguments: [-61, 11, -3600, 3600])
    func `check 11: a time outside the window is refused`(offset: Int64) throws {
        #expect(throws: DPoPError.time) { try verify(proof { $0.iat += offset }) }
    }

    @Test(arguments: [-60, -1, 0, 1, 9, 10])
    func `check 11: a time in the window, 10 seconds ahead included, is accepted`(offset: Int64)
        throws
    {
        #expect(throws: Never.self) { try verify(proof { $0.iat += offset }) }
    }

    @Test func `check 11: fractions of a second count`() throws {
        #expect(throws: Never.self) { try verify(signed(claims: Self.claims(iat: "1700000009.9"))) }
        for iat in ["1700000010.5", "1699999939.9", "9007199254740992", "0"] {
            #expect(throws: DPoPError.time) { try verify(signed(claims: Self.claims(iat: iat))) }
        }
    }

    @Test func `FAPI 2.0: no setting reaches more than 60 seconds ahead`() throws {
        let generous = DPoPVerifier(maximumAge: 300, maximumAhead: 3600)
        for (offset, good) in [(60, true), (61, false), (-300, true), (-301, false)]
            as [(Int64, Bool)]
        {
            let text = try proof { $0.iat += offset }
            let verified = try? generous.verify(
                text, method: "POST", uri: uri, now: Self.now, acceptsNonce: { _ in true })
            #expect((verified != nil) == good, "\(offset)")
        }
    }

    @Test func `check 12: the hash must be there and belong to the token`() throws {
        let text = try proof { $0.accessToken = "token" }
        #expect(throws: Never.self) { try verify(text, accessToken: "token") }
        #expect(throws: DPoPError.accessTokenHash) { try verify(text, accessToken: "Token") }
        #expect(throws: DPoPError.claim("ath")) { try verify(proof(), accessToken: "token") }
        let padded = Self.claims(more: #","ath":"\#(DPoPProof.accessTokenHash("token"))=""#)
        #expect(throws: DPoPError.accessTokenHash) {
            try verify(signed(claims: padded), accessToken: "token")
        }
    }

    @Test func `the dear signature check comes last`() throws {
        let text = try proof { $0.iat -= 100 }
        var asked = false
        #expect(throws: DPoPError.time) {
            try DPoPVerifier().verify(
                text, method: "POST", uri: uri, now: Self.now, acceptsNonce: { _ in true }
            ) { (jwk) throws(JWKError) in
                asked = true
                return try PublicKey(jwk)
            }
        }
        #expect(!asked)
    }

    @Test func `a replay is the same key, URI and jti, whatever the signature`() throws {
        let first = try verify(proof())
        let again = try verify(proof())
        #expect(first.replayHash == again.replayHash)
        #expect(first.replayHash.count == 32)
        #expect(try verify(proof { $0.jti = "4f1e" }).replayHash != first.replayHash)
        let other = try PrivateKey.generate(.ES256)
        let text = try DPoPProof(htm: "POST", uri: uri, jti: "4f1f", iat: Self.now)
            .compact(jwk: other.publicJWK) { (input) throws(KeyError) in try other.sign(input) }
        #expect(try verify(text).replayHash != first.replayHash)
        let respelt = try verify(
            signed(claims: Self.claims(htu: "\"https://BROKER.example:443/v1/assertions\"")))
        #expect(respelt.replayHash == first.replayHash)
    }

    @Test func `every altered character of a proof is noticed`() throws {
        let text = Array(try proof().utf8)
        for index in text.indices {
            var altered = text
            altered[index] =
                altered[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(throws: DPoPError.self, "at \(index)") {
                try verify(String(decoding: altered, as: UTF8.self))
            }
        }
    }
}
