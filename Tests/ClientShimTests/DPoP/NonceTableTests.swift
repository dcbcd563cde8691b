import Testing

@testable import ClientShim

@Suite struct NonceTableTests {
    private func origin(_ url: String) throws -> String { try #require(RequestURL(url)).origin }

    /// cases.md "Nonce kept by origin".
    @Test func `R-100-32 each origin has its own newest nonce, and spellings of one are one`()
        throws
    {
        let table = NonceTable()
        let urls = [
            "https://idp.example", "https://api.example", "https://api.example:8443",
            "https://API.example:443", "http://api.example",
        ]
        for (url, nonce) in zip(urls, ["a", "b", "c", "d", "e"]) {
            table.record(nonce, for: try origin(url))
        }
        let known = try urls.map { table.nonce(for: try origin($0)) }
        #expect(known == ["a", "d", "c", "d", "e"])
    }

    /// cases.md "Nonce kept by origin".
    @Test func `ten thousand origins keep it bounded, and those in use stay`() throws {
        let table = NonceTable()
        table.record("mine", for: "https://idp.example:443")
        for index in 0..<10_000 {
            table.record("n", for: "https://host\(index).example:443")
            if index.isMultiple(of: 10) {
                #expect(table.nonce(for: "https://idp.example:443") == "mine")
            }
        }
        #expect(table.nonce(for: "https://host1.example:443") == nil)
        #expect(table.nonce(for: "https://host9999.example:443") == "n")
    }

    @Test(arguments: [
        "", "a b", "a\"b", "a\\b", "ä", "a\u{7f}", String(repeating: "n", count: 1025),
    ])
    func `what is no nonce is not kept`(_ text: String) {
        let table = NonceTable()
        table.record(text, for: "https://idp.example:443")
        #expect(table.nonce(for: "https://idp.example:443") == nil)
    }

    @Test func `two nonces in one answer are none`() {
        let answer = HTTPAnswer(
            status: 400, headers: [HTTPHeader("DPoP-Nonce", "a"), HTTPHeader("dpop-nonce", "b")])
        #expect(NonceTable.nonce(in: answer) == nil)
    }
}
