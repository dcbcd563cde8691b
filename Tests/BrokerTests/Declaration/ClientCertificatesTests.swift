import JOSE
import Testing

@testable import Broker

/// The member `certificates` of a client, in a file and in the database.
@Suite struct ClientCertificatesTests {
    func faults(_ members: String) -> [String] {
        do {
            _ = try DeclarationReaderTests.read(DeclarationReaderTests.client(members))
            return []
        } catch { return error.faults.map { "\($0.path): \($0.message)" } }
    }

    static let named = #"certificates: [{ san_dns: "backend.bank.example" }]"#
    static let path = "tenants.acme.clients.app.certificates"

    @Test(arguments: [
        #"gates: ["mtls"]"#, #"gates: ["dpop", "mtls"]"#, #"gates: [["mtls", "dpop"]]"#,
        #"gates: ["backend_token", ["backend_token", "mtls", "dpop"]]"#,
    ])
    func `a client with an mtls gate names certificates, and one that names them has such a gate`(
        gates: String
    ) throws {
        #expect(faults("\(gates)\n\(Self.named)") == [])
        let missing = faults(gates)
        #expect(missing.count == 1)
        #expect(missing.first?.hasPrefix(Self.path + ": is missing") == true)
    }

    @Test func `certificates without such a gate are refused by name`() {
        let faults = faults("gates: [\"dpop\"]\n\(Self.named)")
        #expect(faults.count == 1)
        #expect(faults.first?.hasPrefix(Self.path + ": no gate has mtls") == true)
    }

    @Test(arguments: ["[]", "{}", "\"backend\"", "null", "true"])
    func `a list of at least one is wanted`(_ value: String) {
        let faults = faults("gates: [\"mtls\"]\ncertificates: \(value)")
        #expect(faults == ["\(Self.path): must be a list of 1 to 64 certificates"])
    }

    @Test func `no more than 64`() {
        let list = (0..<65).map { "{ san_dns: \"b\($0).example\" }" }.joined(separator: ", ")
        #expect(
            faults("gates: [\"mtls\"]\ncertificates: [\(list)]")
                == ["\(Self.path): must be a list of 1 to 64 certificates"])
    }

    @Test func `every entry that is wrong is named`() {
        let faults = faults(
            "gates: [\"mtls\"]\n"
                + #"certificates: [{ san_dns: "*.example" }, { san_dns: "a.example" }, { cn: "x" }, { san_dns: "A.example" }]"#
        )
        #expect(faults.count == 3)
        #expect(faults[0].hasPrefix(Self.path + "[0]: must be one of"))
        #expect(faults[1].hasPrefix(Self.path + "[2]: must be one of"))
        #expect(faults[2].hasPrefix(Self.path + "[3]: names the same certificate"))
    }

    @Test
    func `a client without certificates is written as before, so that older replicas read it`()
        throws
    {
        var json = JSONWriter()
        try Sample.settings().writeMembers(in: &json)
        #expect(!json.text.contains("certificates"))
    }

    @Test func `what is written is read again`() throws {
        let settings = try Sample.settings(
            gates: "[\"mtls\"]",
            #""certificates":[{"san_uri":"spiffe://a/b"},{"san_ip":"192.0.2.1"},{"sha256":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}]"#
        )
        var json = JSONWriter()
        settings.writeMembers(in: &json)
        #expect(try StoredDocument.clientSettings(json.text) == settings)
    }
}

extension ClientSettings {
    fileprivate func writeMembers(in json: inout JSONWriter) {
        json.object { writeMembers(to: &$0) }
    }
}
