import JOSE
import Testing

@testable import Broker

@Suite struct GateTests {
    func gate(_ json: String) throws -> Gate? { Gate(try JSONValue(parsing: Array(json.utf8))) }

    @Test func `a gate is one part or a list of parts that must all hold`() throws {
        #expect(try gate("\"dpop\"")?.parts == [.dpop])
        #expect(try gate("[\"backend_token\"]")?.parts == [.backendToken])
        #expect(try gate("\"mtls\"")?.parts == [.mtls])
        #expect(try gate("[\"mtls\",\"dpop\"]")?.parts == [.dpop, .mtls])
        #expect(try gate("[\"dpop\",\"backend_token\"]")?.parts == [.dpop, .backendToken])
    }

    @Test func `the order in a list makes no other gate`() throws {
        #expect(try gate("[\"dpop\",\"backend_token\"]") == gate("[\"backend_token\",\"dpop\"]"))
        #expect(try gate("[\"dpop\",\"backend_token\"]")?.description == "backend_token+dpop")
    }

    @Test(arguments: [
        "\"\"", "\"tls\"", "\"MTLS\"", "\"DPoP\"", "[]", "[\"dpop\",\"dpop\"]", "[\"dpop\",1]",
        "[[\"dpop\"]]",
        "[\"dpop\",\"none\"]", "null", "{}", "{\"dpop\":true}", "1",
    ])
    func `anything else is no gate`(_ json: String) throws {
        #expect(try gate(json) == nil)
    }

    @Test(arguments: [
        "\"dpop\"", "[\"backend_token\",\"dpop\"]", "\"mtls\"",
        "[\"backend_token\",\"dpop\",\"mtls\"]",
    ])
    func `reading undoes writing`(_ json: String) throws {
        let gate = try #require(try gate(json))
        var writer = JSONWriter()
        gate.write(to: &writer)
        #expect(writer.text == json)
    }
}
