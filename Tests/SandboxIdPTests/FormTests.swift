import Testing

@testable import SandboxIdP

@Suite struct FormTests {
    @Test(arguments: [
        "a=%", "a=%4", "a=%zz", "a=1&&b=2", "&a=1", "=1", "a=\u{7f}", "a=b c", "a=ü", "a=%ff",
        "a=%00", "a=%0d%0a", "a=%c3", "a=\t",
    ])
    func `a malformed form is refused`(text: String) {
        #expect(throws: RequestFault.malformedForm) { try Form(parsing: Array(text.utf8)) }
    }

    @Test(arguments: ["a=1&a=1", "a=1&%61=2", "a&a="])
    func `a repeated parameter is refused`(text: String) {
        #expect(throws: RequestFault.repeatedParameter) { try Form(parsing: Array(text.utf8)) }
    }

    @Test func `more parameters than any request has are refused`() {
        let text = (0...64).map { "p\($0)=1" }.joined(separator: "&")
        #expect(throws: RequestFault.malformedForm) { try Form(parsing: Array(text.utf8)) }
    }

    @Test func `values are decoded, and empty ones count as absent`() throws {
        let form = try Form(parsing: Array("a=x+y%2B%c3%bc&b=&c".utf8))
        #expect(form["a"] == "x y+ü")
        #expect(form["b"] == nil)
        #expect(form["c"] == nil)
        #expect(throws: OAuthFault.invalidRequest(.missing("b"))) { try form.required("b") }
    }

    @Test(arguments: 0..<300)
    func `any octets are read or refused, never trapped on`(seed: UInt64) {
        var state = seed &* 6_364_136_223_846_793_005 &+ 1
        let alphabet = Array("ab=&%+4c\u{0}ü ".utf8)
        let octets = (0..<40).map { _ -> UInt8 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return alphabet[Int(state >> 33) % alphabet.count]
        }
        guard let form = try? Form(parsing: octets) else { return }
        #expect(form["a"]?.isEmpty != true)
    }
}
