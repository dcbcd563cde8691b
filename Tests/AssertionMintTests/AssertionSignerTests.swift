import AssertionMint
import JOSE
import TestKit
import Testing

@Suite struct AssertionSignerTests {
    private static let now: Int64 = 1_700_000_000
    private let key: PrivateKey
    private let clientId: ClientId
    private let issuer: Issuer
    private let jkt: DpopJkt

    init() throws {
        key = try PrivateKey.generate(.ES256)
        clientId = try #require(ClientId("s6BhdRkqt3"))
        issuer = try #require(Issuer("https://idp.example/t1"))
        jkt = try #require(DpopJkt("0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"))
    }

    private func signer(
        _ profile: AssertionProfile?, key: PrivateKey? = nil, kid: String = "key-1"
    ) throws -> AssertionSigner {
        AssertionSigner(
            clientId: clientId, key: key ?? self.key, kid: kid, profile: try #require(profile))
    }

    /// Header and payload exactly as they leave the process.
    private func minted(
        _ signer: AssertionSigner, audience: Issuer? = nil, jti: JTI? = nil, now: Int64 = now
    ) throws -> (header: String, payload: String, token: String) {
        let token = try signer.assertion(
            audience: audience ?? issuer, dpopJkt: jkt, jti: jti ?? JTI.random(at: Self.now),
            times: signer.times(now: now)
        ).expose()
        let segments = token.split(separator: ".", omittingEmptySubsequences: false)
        try #require(segments.count == 3)
        let text = { (segment: Substring) in
            String(decoding: Base64URL.decode(String(segment)) ?? [], as: UTF8.self)
        }
        return (text(segments[0]), text(segments[1]), token)
    }

    @Test func `R-101-20 design §5: the raw octets of header and payload`() throws {
        let jti = try JTI.random(at: Self.now)
        let minted = try minted(signer(AssertionProfile()), jti: jti)
        #expect(
            minted.header == #"{"alg":"ES256","kid":"key-1","typ":"client-authentication+jwt"}"#)
        #expect(
            minted.payload
                == #"{"iss":"s6BhdRkqt3","sub":"s6BhdRkqt3","aud":"https://idp.example/t1","jti":"\#(jti)","iat":1700000000,"exp":1700000060,"cnf":{"jkt":"0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}}"#
        )
    }

    @Test(arguments: [
        (AssertionProfile.HeaderType.clientAuthentication, #","typ":"client-authentication+jwt""#),
        (.jwt, #","typ":"JWT""#), (.none, ""),
    ])
    func `R-101-20 the type is the client's setting`(
        type: AssertionProfile.HeaderType, member: String
    )
        throws
    {
        let minted = try minted(signer(AssertionProfile(type: type)))
        #expect(minted.header == #"{"alg":"ES256","kid":"key-1"\#(member)}"#)
    }

    @Test func `R-101-20 without binding there is no cnf, and nothing else changes`() throws {
        let claims = try JSONValue(
            parsing: Array(minted(signer(AssertionProfile(bindsInstall: false))).payload.utf8))
        #expect(claims.members?.map(\.name) == ["iss", "sub", "aud", "jti", "iat", "exp"])
    }

    @Test func `R-101-21 standards §2.2: no nbf, no embedded key, no personal data`() throws {
        for type in AssertionProfile.HeaderType.allCases {
            let minted = try minted(signer(AssertionProfile(type: type)))
            let header = try JSONValue(parsing: Array(minted.header.utf8))
            let claims = try JSONValue(parsing: Array(minted.payload.utf8))
            #expect(
                header.members?.map(\.name)
                    == (type == .none ? ["alg", "kid"] : ["alg", "kid", "typ"]))
            #expect(
                claims.members?.map(\.name) == ["iss", "sub", "aud", "jti", "iat", "exp", "cnf"])
            #expect(claims["cnf"]?.members?.map(\.name) == ["jkt"])
        }
    }

    /// Cases, mint "Issuer normalised": the configured text, octet by octet.
    @Test(arguments: [
        "https://idp.example", "https://idp.example/", "https://idp.example/t1/",
        "https://IDP.example:443/t%2D1", "https://idp.example//a/../b",
        "http://127.0.0.1:8080/idp", "https://[2001:DB8::1]/",
    ])
    func `the audience is the configured issuer as one string`(text: String) throws {
        let audience = try #require(Issuer(text))
        let payload = try minted(signer(AssertionProfile()), audience: audience).payload
        #expect(payload.contains(#","aud":"\#(text)","#))
    }

    @Test(arguments: [0, 1, 60, 300, 9, -5])
    func `times follow the profile and nothing else`(number: Int64) throws {
        let allowed = AssertionProfile.lifetimes.contains(number)
        #expect((AssertionProfile(lifetime: number) != nil) == allowed)
        guard let profile = AssertionProfile(lifetime: number) else { return }
        let times = try signer(profile).times(now: Self.now)
        #expect(times.issuedAt == Self.now)
        #expect(times.expiresAt == Self.now + number)
    }

    @Test(arguments: [Int64.min, -1, 0, 9, 301, 3600, Int64(Int32.max) + 1, .max])
    func `R-101-21 a lifetime outside 10 to 300 seconds is no profile`(lifetime: Int64) {
        #expect(AssertionProfile(lifetime: lifetime) == nil)
    }

    @Test(arguments: [Int64.min, -1, 11, .max])
    func `R-101-21 a back-dating outside 0 to 10 seconds is no profile`(backdating: Int64) {
        #expect(AssertionProfile(backdating: backdating) == nil)
    }

    @Test func `R-101-21 back-dating moves both times and leaves the lifetime`() throws {
        let times = try signer(AssertionProfile(lifetime: 30, backdating: 10)).times(now: Self.now)
        #expect(times.issuedAt == Self.now - 10)
        #expect(times.expiresAt == Self.now + 20)
    }

    @Test func `the defaults are 60 seconds, the new type, and bound to the install`() throws {
        let profile = try #require(AssertionProfile())
        #expect(profile.lifetime == 60)
        #expect(profile.backdating == 0)
        #expect(profile.type == .clientAuthentication)
        #expect(profile.bindsInstall)
    }

    /// Cases, mint "Time claims against skew": minted at x.999 s, the second is x.
    @Test(arguments: [(0, true), (1, true), (9, true), (10, true), (11, false)] as [(Int64, Bool)])
    func `a strict checker with a clock behind ours accepts up to its 10 seconds`(
        behind: Int64, accepted: Bool
    ) throws {
        let clock = Double(Self.now) + 0.999
        let payload = try minted(
            signer(AssertionProfile()), now: Int64(clock.rounded(.down))
        ).payload
        let claims = try JSONValue(parsing: Array(payload.utf8))
        let issuedAt = try #require(claims["iat"]?.integer)
        let expiresAt = try #require(claims["exp"]?.integer)
        #expect(Double(issuedAt) <= clock)
        #expect(expiresAt - issuedAt == 60)
        let theirs = Double(Self.now - behind)
        #expect((Double(issuedAt) - theirs <= 10) == accepted)
        #expect(Double(expiresAt) > theirs)
        #expect(claims["nbf"] == nil)
    }

    @Test(arguments: ["a\"b", "\\", "ключ", "a/b+c=", "\u{2028}", " "])
    func `a key id is carried exactly`(kid: String) throws {
        let token = try minted(signer(AssertionProfile(), kid: kid)).token
        #expect(try CompactJWS(parsing: token.utf8).kid.map { Array($0.utf8) } == Array(kid.utf8))
    }

    @Test func `a client id is carried exactly, both times`() throws {
        let odd = try #require(ClientId(#"a"b\c/<d>&{}"#))
        let signer = AssertionSigner(
            clientId: odd, key: key, kid: "k", profile: try #require(AssertionProfile()))
        let claims = try JSONValue(parsing: Array(minted(signer).payload.utf8))
        #expect(claims["iss"]?.string == odd.rawValue)
        #expect(claims["sub"]?.string == odd.rawValue)
    }

    @Test(arguments: JWSAlgorithm.allCases)
    func `another implementation takes the assertion and reads the same claims`(
        algorithm: JWSAlgorithm
    ) async throws {
        let key = try PrivateKey.generate(algorithm)
        let signer = try signer(AssertionProfile(), key: key)
        #expect(signer.algorithm == algorithm)
        let jti = try JTI.random(at: Self.now)
        let token = try minted(signer, jti: jti).token
        #expect(try CompactJWS(parsing: token.utf8).isSigned(by: PublicKey(key.publicJWK)))

        let jwk = key.publicJWK.jsonText(asSigningKey: true)
        let stranger = try PrivateKey.generate(.ES256).publicJWK.jsonText(asSigningKey: true)
        let question = { (jwk: String) in
            #"{"op":"read JWT","alg":"\#(algorithm.rawValue)","jwk":\#(jwk),"token":"\#(token)"}"#
        }
        let answers = try await Oracle.ask("signatures.py", [question(jwk), question(stranger)])
        #expect(answers[0]["valid"]?.bool == true)
        #expect(answers[1]["valid"]?.bool == false)
        let header = try #require(answers[0]["header"])
        #expect(header["alg"]?.string == algorithm.rawValue)
        #expect(header["kid"]?.string == "key-1")
        #expect(header["typ"]?.string == "client-authentication+jwt")
        let claims = try #require(answers[0]["claims"])
        #expect(claims["aud"]?.string == "https://idp.example/t1")
        #expect(claims["iss"]?.string == clientId.rawValue)
        #expect(claims["sub"]?.string == clientId.rawValue)
        #expect(claims["jti"]?.string == jti.rawValue)
        #expect(claims["iat"]?.integer == Self.now)
        #expect(claims["exp"]?.integer == Self.now + 60)
        #expect(claims["cnf"]?["jkt"]?.string == jkt.rawValue)
        #expect(claims.members?.count == 7)
    }

    @Test func `an assertion does not show itself`() throws {
        let signer = try signer(AssertionProfile())
        let assertion = try signer.assertion(
            audience: issuer, dpopJkt: jkt, jti: JTI.random(at: Self.now),
            times: signer.times(now: Self.now))
        #expect("\(assertion)" == "<secret>")
        #expect(!String(reflecting: assertion).contains("eyJ"))
    }
}
