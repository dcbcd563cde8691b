import JOSE
import Testing

@testable import Broker

@Suite struct ConsumeRequestTests {
    func refusal(_ body: String) -> String? {
        do {
            _ = try ConsumeRequest(Array(body.utf8))
            return nil
        } catch {
            guard case .malformedRequest(let what) = error else { return "\(error)" }
            return what
        }
    }

    @Test func `reads the assertion, and the audience when there is one`() throws {
        let plain = try ConsumeRequest(Array(#"{"client_assertion":"a.b.c","x":[1]}"#.utf8))
        #expect(plain.assertion.expose() == "a.b.c")
        #expect(plain.audience == nil)
        let full = try ConsumeRequest(
            Array(
                """
                {"audience":"https://idp.example","client_assertion_type":
                "urn:ietf:params:oauth:client-assertion-type:jwt-bearer","client_assertion":""}
                """.utf8))
        #expect(full.assertion.expose() == "")
        #expect(full.audience == "https://idp.example")
        #expect(!"\(full)".contains("a.b.c"))
    }

    @Test(arguments: [
        ("", "JSON"), ("a.b.c", "JSON"), ("[]", "object"), ("{}", "client_assertion "),
        (#"{"client_assertion":null}"#, "client_assertion "),
        (#"{"client_assertion":["a.b.c"]}"#, "client_assertion "),
        (#"{"client_assertion":"a","client_assertion":"a"}"#, "JSON"),
        (#"{"client_assertion":"a","client_\u0061ssertion":"b"}"#, "JSON"),
        (#"{"x":1,"client_assertion":"a","x":2}"#, "JSON"),
        (#"{"client_assertion":"a","client_assertion_type":"jwt-bearer"}"#, "_type"),
        (#"{"client_assertion":"a","client_assertion_type":null}"#, "_type"),
        (#"{"client_assertion":"a","audience":null}"#, "audience"),
        (#"{"client_assertion":"a","audience":["https://idp.example"]}"#, "audience"),
        (#"{"client_assertion":"a"} x"#, "JSON"), ("\u{FEFF}{}", "JSON"),
    ])
    func `a body that breaks one rule is named`(body: String, word: String) {
        #expect(refusal(body)?.contains(word) == true)
    }
}
