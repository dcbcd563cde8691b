import AssertionMint
import Testing

@Suite struct IssuerTests {
    @Test(arguments: [
        "https://idp.example", "https://idp.example/", "https://IDP.example:443/t%2D1",
        "http://localhost:8080", "http://127.0.0.1/", "http://[::1]:1/a",
    ])
    func `kept octet by octet`(text: String) throws {
        let issuer = try #require(Issuer(text))
        #expect(Array(issuer.rawValue.utf8) == Array(text.utf8))
        #expect(issuer.description == text)
    }

    @Test(arguments: [
        "", "idp.example", "http://idp.example", "http://10.0.0.1/",
        "http://localhost.evil.example/", "http://127.0.0.1.evil.example/",
        "https://idp.example?x", "https://idp.example/#", "https://idp.example?",
        "https://user@idp.example/", "https://idp.example/ ",
        "ftp://idp.example", "https://", "https://idp.example/\n", "https://ídp.example/",
        "https://idp.example/%zz", "[\"https://idp.example\"]",
        "https://idp.example/" + String(repeating: "a", count: 512),
    ])
    func `what is no issuer identifier is refused`(text: String) {
        #expect(Issuer(text) == nil)
    }

    @Test func `issuers that differ by one character are different`() throws {
        let one = try #require(Issuer("https://idp.example/t1"))
        for other in [
            "https://idp.example/t1/", "https://idp.example/T1", "https://idp.example:443/t1",
            "https://idp.example/t%31",
        ] {
            #expect(try #require(Issuer(other)) != one)
        }
    }
}
