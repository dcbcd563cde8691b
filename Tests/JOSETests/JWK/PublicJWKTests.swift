import JOSE
import Testing

@Suite struct PublicJWKTests {
    private static let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
    private static let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
    /// The key of RFC 7515 appendix A.3; standards §20 has its thumbprint.
    private static let thumbprint = "oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U"
    private static let modulus = Base64URL.encode([0x80] + [UInt8](repeating: 1, count: 255))

    private static func read(_ text: String) throws -> PublicJWK {
        try PublicJWK(JSONValue(parsing: Array(text.utf8)))
    }

    private static func ec(_ more: String = "", x: String = x, y: String = y) -> String {
        #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"\#(more)}"#
    }

    private static func rsa(_ more: String = "", n: String = modulus, e: String = "AQAB") -> String
    {
        #"{"kty":"RSA","n":"\#(n)","e":"\#(e)"\#(more)}"#
    }

    /// Cases, dpop "Thumbprint input".
    @Test(arguments: [
        ec(), #"{"y":"\#(y)","x":"\#(x)","crv":"P-256","kty":"EC"}"#,
        ec(#","alg":"ES256","use":"sig","kid":"a","key_ops":["verify"],"ext":true,"note":"n""#),
        #" { "kid" : "b", "crv" : "P\u002d256" , "x":"\#(x)", "kty":"EC","y":"\#(y)" } "#,
        ec(#","key_ops":["sign","verify"],"use":"sig""#),
    ])
    func `the thumbprint comes from the required members alone, in any order`(text: String) throws {
        #expect(try Self.read(text).thumbprint == Self.thumbprint)
    }

    @Test(arguments: ["d", "p", "q", "dp", "dq", "qi", "oth", "k"])
    func `a private member is refused in a key of any kind`(name: String) {
        for text in [Self.ec(#","\#(name)":"AQAB""#), Self.rsa(#","\#(name)":null"#)] {
            #expect(throws: JWKError.privateMember(name)) { try Self.read(text) }
        }
    }

    @Test func `a private member is found behind an escape`() {
        #expect(throws: JWKError.privateMember("d")) {
            try Self.read(Self.ec(#","\u0064":"AQAB""#))
        }
    }

    @Test(
        arguments: [
            ("[]", .notAnObject), ("\"EC\"", .notAnObject), ("{}", .badMember("kty")),
            (#"{"kty":1}"#, .badMember("kty")),
            (#"{"kty":"OKP","crv":"Ed25519","x":"AA"}"#, .unsupportedType),
            (#"{"kty":"ec"}"#, .unsupportedType),
            (#"{"kty":"EC","crv":"P-384"}"#, .unsupportedCurve),
            (#"{"kty":"EC","crv":"secp256k1"}"#, .unsupportedCurve),
            (#"{"kty":"EC"}"#, .badMember("crv")),
            (#"{"kty":"EC","crv":"P-256","x":"\#(x)"}"#, .badMember("y")),
            (#"{"kty":"EC","crv":"P-256","y":"\#(y)"}"#, .badMember("x")),
            (ec(x: x + "="), .badMember("x")), (ec(x: "+" + x.dropFirst()), .badMember("x")),
            (ec(x: ""), .invalidPoint),
            (ec(x: Base64URL.encode([UInt8](repeating: 1, count: 31))), .invalidPoint),
            (ec(y: Base64URL.encode([UInt8](repeating: 1, count: 33))), .invalidPoint),
            (#"{"kty":"EC","crv":"P-256","x":[1],"y":"\#(y)"}"#, .badMember("x")),
            (ec(#","kid":5"#), .badMember("kid")), (ec(#","kid":null"#), .badMember("kid")),
            (ec(#","use":"enc""#), .notForSignatures), (ec(#","use":"SIG""#), .notForSignatures),
            (ec(#","use":["sig"]"#), .badMember("use")),
            (ec(#","key_ops":["sign"]"#), .notForSignatures),
            (ec(#","key_ops":[]"#), .notForSignatures),
            (ec(#","key_ops":"verify""#), .badMember("key_ops")),
            (ec(#","use":"sig","key_ops":["verify","encrypt"]"#), .notForSignatures),
            (ec(#","alg":"PS256""#), .notForSignatures),
            (ec(#","alg":"ES384""#), .notForSignatures),
            (ec(#","alg":"none""#), .notForSignatures), (ec(#","alg":256"#), .badMember("alg")),
            (rsa(#","alg":"RS256""#), .notForSignatures),
            (rsa(#","alg":"ES256""#), .notForSignatures),
            (#"{"kty":"RSA","n":"\#(modulus)"}"#, .badMember("e")),
            (#"{"kty":"RSA","e":"AQAB"}"#, .badMember("n")),
            (rsa(n: ""), .unacceptableRSA), (rsa(e: ""), .unacceptableRSA),
            (rsa(n: "AA" + modulus), .unacceptableRSA),
            (
                rsa(n: Base64URL.encode([0, 0x80] + [UInt8](repeating: 1, count: 255))),
                .unacceptableRSA
            ),
            (
                rsa(n: Base64URL.encode([0x7f] + [UInt8](repeating: 1, count: 255))),
                .unacceptableRSA
            ),
            (
                rsa(n: Base64URL.encode([0x80] + [UInt8](repeating: 1, count: 127))),
                .unacceptableRSA
            ),
            (
                rsa(n: Base64URL.encode([0x80] + [UInt8](repeating: 2, count: 255))),
                .unacceptableRSA
            ),
            (
                rsa(n: Base64URL.encode([0x80] + [UInt8](repeating: 1, count: 1024))),
                .unacceptableRSA
            ),
            (rsa(e: "AQ"), .unacceptableRSA), (rsa(e: "AA"), .unacceptableRSA),
            (rsa(e: "Ag"), .unacceptableRSA),
            (rsa(e: "AAEAAQ"), .unacceptableRSA),
            (rsa(e: Base64URL.encode([UInt8](repeating: 1, count: 9))), .unacceptableRSA),
        ] as [(String, JWKError)])
    func `a key with one thing wrong is refused`(text: String, error: JWKError) {
        #expect(throws: error) { try Self.read(text) }
    }

    @Test(arguments: [
        ("Zero", [UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32)),
        ("off the curve", [UInt8](repeating: 1, count: 32), [UInt8](repeating: 1, count: 32)),
        ("not below p", [UInt8](repeating: 0xff, count: 32), [UInt8](repeating: 0xff, count: 32)),
    ])
    func `a point that is not on the curve makes no verification key`(
        name: String, x: [UInt8], y: [UInt8]
    ) throws {
        let jwk = try PublicJWK(.p256(x: x, y: y))
        #expect(throws: JWKError.invalidPoint) { try PublicKey(jwk) }
    }

    @Test func `the other y of the same x is another key`() throws {
        let jwk = try Self.read(Self.ec())
        guard case .p256(let x, var y) = jwk.material else { throw JWKError.invalidPoint }
        y[31] ^= 1
        #expect(throws: JWKError.invalidPoint) { try PublicKey(PublicJWK(.p256(x: x, y: y))) }
    }

    /// Cases, keys "Private members published".
    @Test func `a key is written from the allow-list of members`() throws {
        let extras =
            #","alg":"ES256","use":"sig","kid":"k-1","x5c":["AA"],"ext":true,"key_ops":["verify"],"note":"n""#
        let jwk = try Self.read(Self.ec(extras))
        #expect(
            jwk.jsonText(asSigningKey: true)
                == #"{"kty":"EC","crv":"P-256","x":"\#(Self.x)","y":"\#(Self.y)","kid":"k-1","use":"sig","alg":"ES256"}"#
        )
        #expect(jwk.jsonText(asSigningKey: false) == Self.ec())
        #expect(try Self.read(Self.rsa()).jsonText(asSigningKey: false) == Self.rsa())
    }

    @Test(arguments: JWSAlgorithm.allCases)
    func `a written key reads as the same key`(algorithm: JWSAlgorithm) throws {
        var jwk = try TestKeys.key(algorithm).publicJWK
        jwk.kid = "quote \" and \u{2028}"
        let read = try Self.read(jwk.jsonText(asSigningKey: true))
        #expect(read == jwk)
        #expect(read.algorithm == algorithm)
    }
}
