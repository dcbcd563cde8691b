import Testing

@testable import Broker

@Suite struct MediaTypeTests {
    @Test(arguments: [
        "application/json", "Application/JSON", "application/json; charset=utf-8",
        "application/json;charset=UTF-8", "application/json ;\tcharset=\"utf-8\"",
    ])
    func `JSON in UTF-8 is taken in any spelling (RFC 9110 §8.3)`(_ field: String) {
        #expect(MediaType.isJSON(field))
    }

    @Test(arguments: [
        "", ";", "application/json;", "application/json; charset=latin1", "application/jsonx",
        "application/problem+json", "text/json", "text/plain", "application/x-www-form-urlencoded",
        "application/json, application/json", "application/json; boundary=x", "json",
        "application/ json", "application/json\u{85}",
    ])
    func `anything else is not`(_ field: String) {
        #expect(!MediaType.isJSON(field))
    }
}
