import JOSE
import Testing

@Suite struct JWKSetTests {
    private let ec: PublicJWK
    private let rsa: PublicJWK

    init() throws {
        var ec = try TestKeys.key(.ES256).publicJWK
        var rsa = try TestKeys.key(.PS256).publicJWK
        ec.kid = "same"
        rsa.kid = "same"
        self.ec = ec
        self.rsa = rsa
    }

    private func read(_ text: String) throws -> JWKSet {
        try JWKSet(JSONValue(parsing: Array(text.utf8)))
    }

    @Test func `what is written reads as the same set`() throws {
        let set = JWKSet([ec, rsa])
        #expect(try read(set.jsonText) == set)
        #expect(try read(#"{"keys":[]}"#) == JWKSet([]))
        #expect(JWKSet([]).jsonText == #"{"keys":[]}"#)
    }

    /// Cases, keys "Private members published".
    @Test func `no member of a written set is outside the allow-list`() throws {
        let json = try JSONValue(parsing: Array(JWKSet([ec, rsa]).jsonText.utf8))
        let keys = try #require(json["keys"]?.array)
        #expect(keys.count == 2)
        let names = Set(keys.flatMap { $0.members ?? [] }.map(\.name))
        #expect(names == ["kty", "crv", "x", "y", "n", "e", "kid", "use", "alg"])
    }

    @Test func `RFC 7517 §5: keys that cannot be used are skipped`() throws {
        let others = [
            #"{"kty":"OKP","crv":"Ed25519","x":"AA"}"#, #"{"kty":"EC","crv":"P-521"}"#,
            #"{"kty":"RSA"}"#, "{}", "1", "null",
            #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#,
            ec.jsonText(asSigningKey: true).replacing("\"sig\"", with: "\"enc\""),
        ]
        let text = (others + [ec.jsonText(asSigningKey: true)]).joined(separator: ",")
        #expect(try read("{\"keys\":[\(text)]}") == JWKSet([ec]))
    }

    @Test(arguments: ["{}", "[]", #"{"keys":{}}"#, #"{"keys":null}"#, #"{"Keys":[]}"#, "null"])
    func `a document without an array of keys is refused`(text: String) {
        #expect(throws: JWKError.badMember("keys")) { try read(text) }
    }

    @Test func `a set that gives a private member away is refused whole`() {
        let leaky = #"{"kty":"oct","k":"AAAA"}"#
        #expect(throws: JWKError.privateMember("k")) {
            try read("{\"keys\":[\(ec.jsonText(asSigningKey: true)),\(leaky)]}")
        }
    }

    @Test func `a repeated kid is told apart by the algorithm`() {
        let set = JWKSet([ec, rsa])
        #expect(set.candidates(kid: "same", algorithm: .ES256) == [ec])
        #expect(set.candidates(kid: "same", algorithm: .PS256) == [rsa])
        #expect(set.candidates(kid: nil, algorithm: .PS256) == [rsa])
        #expect(set.candidates(kid: "other", algorithm: .ES256) == [])
    }

    @Test func `a kid is compared with letter case and without normalising`() {
        var key = ec
        key.kid = "K\u{e9}"
        let set = JWKSet([key])
        for kid in ["k\u{e9}", "Ke\u{301}", "\u{212a}\u{e9}", "K\u{e9} ", ""] {
            #expect(set.candidates(kid: kid, algorithm: .ES256) == [])
        }
        #expect(set.candidates(kid: "K\u{e9}", algorithm: .ES256).count == 1)
    }

    @Test func `a key without a kid is a candidate only when no kid is asked for`() {
        var key = ec
        key.kid = nil
        #expect(JWKSet([key]).candidates(kid: "same", algorithm: .ES256) == [])
        #expect(JWKSet([key]).candidates(kid: nil, algorithm: .ES256) == [key])
    }
}
