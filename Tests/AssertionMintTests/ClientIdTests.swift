import AssertionMint
import Testing

@Suite struct ClientIdTests {
    @Test(arguments: [
        "a", "s6BhdRkqt3", "https://client.example/app", "~!@#$%^&*()",
        String(repeating: "x", count: 128),
    ])
    func `printable ASCII is kept as it is`(text: String) throws {
        #expect(try #require(ClientId(text)).rawValue == text)
    }

    @Test(arguments: [
        "", " ", "a b", "a\n", "a\r\nb", "\u{0}", "\u{1b}[2J", "\u{7f}", "é", "а", "a\u{2028}",
        String(repeating: "x", count: 129),
    ])
    func `anything else is refused`(text: String) {
        #expect(ClientId(text) == nil)
    }

    @Test func `letter case makes another client, and order is by text`() throws {
        let upper = try #require(ClientId("Client"))
        let lower = try #require(ClientId("client"))
        #expect(upper != lower)
        #expect(upper < lower)
    }
}
