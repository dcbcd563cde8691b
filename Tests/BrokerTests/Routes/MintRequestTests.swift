import AssertionMint
import JOSE
import Testing

@testable import Broker

@Suite struct MintRequestTests {
    static let jkt = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"

    func error(_ body: String) -> BrokerError? { error(Array(body.utf8)) }

    func error(_ body: [UInt8]) -> BrokerError? {
        do {
            _ = try MintRequest(body, for: .clientAssertion)
            return nil
        } catch { return error }
    }

    static func body(
        client: String = "\"app\"", audience: String = "\"https://idp.example\"",
        jkt: String = "\"\(jkt)\"", more: String = ""
    ) -> String {
        "{\"client_id\":\(client),\"audience\":\(audience),\"dpop_jkt\":\(jkt)\(more)}"
    }

    @Test func `members are read, unknown ones ignored`() throws {
        let request = try MintRequest(
            Array(Self.body(more: ",\"lifetime\":3600,\"alg\":\"none\",\"x\":{\"y\":[1]}").utf8),
            for: .clientAssertion)
        #expect(request.clientId.rawValue == "app")
        #expect(request.wish == .clientAssertion(audience: "https://idp.example"))
        #expect(request.dpopJkt.rawValue == Self.jkt)
    }

    static let notAcceptable: [String] = {
        let long = String(repeating: "a", count: 129)
        let deep =
            String(repeating: "{\"a\":", count: 300) + "1" + String(repeating: "}", count: 300)
        let texts: [String] = [
            "", " ", "x", "null", "[]", "\"x\"", "{", "{'client_id':'app'}",
            "{\"audience\":\"https://idp.example\",\"dpop_jkt\":\"\(jkt)\"}",
            "{\"client_id\":\"app\",\"audience\":\"https://idp.example\"}",
            "{\"client_id\":\"app\",\"dpop_jkt\":\"\(jkt)\"}", "\(body())x", "\u{feff}\(body())",
        ]
        let additions: [String] = [
            ",", ",\"client_id\":\"app\"", ",\"\\u0063lient_id\":\"app\"", ",\"x\":1,\"x\":1",
            ",\"x\":\(deep)",
        ]
        let clients: [String] = [
            "null", "1", "\"\"", "\"a b\"", "\"a\\r\\nb\"", "\"a\\u2028\"", "\"\\u0000\"",
            "[\"app\"]", "\"\(long)\"",
        ]
        return texts + additions.map { body(more: $0) } + clients.map { body(client: $0) }
            + [String(repeating: "[", count: 4096)]
    }()

    @Test(arguments: notAcceptable)
    func `what is not acceptable JSON is an invalid request`(_ body: String) {
        guard case .malformedRequest = error(body) else {
            Issue.record("\(String(describing: error(body)))")
            return
        }
    }

    static let notThumbprints: [String] = {
        let cut = String(jkt.dropLast())
        return [
            "", cut, "\(jkt)A", "\(jkt)=", "\(cut)=", "\(cut)/", "\(cut)+", "\(cut)J", " \(jkt)",
            "\(jkt) ",
            "\(cut)é", "\(cut)\\n", String(repeating: "A", count: 10_240),
        ]
    }()

    /// cases.md "Thumbprint input".
    @Test(arguments: notThumbprints)
    func `a dpop_jkt that is not the one spelling of 32 octets is refused`(_ jkt: String) {
        guard case .malformedRequest(let what) = error(Self.body(jkt: "\"\(jkt)\"")) else {
            Issue.record("accepted")
            return
        }
        #expect(what.hasPrefix("dpop_jkt"))
    }

    @Test(arguments: ["[\"https://idp.example\"]", "null", "1", "{}", "true", "[]"])
    func `an audience that is no string is a bad audience`(_ audience: String) {
        #expect(error(Self.body(audience: audience)) == .audienceNotAllowed)
    }

    @Test func `octets that are no UTF-8 are refused`() {
        var body = Array(Self.body().utf8)
        body[15] = 0xff
        guard case .malformedRequest = error(body) else {
            Issue.record("accepted")
            return
        }
    }
}
