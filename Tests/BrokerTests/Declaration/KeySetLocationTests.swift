import JOSE
import Testing

@testable import Broker

/// `jwks_uri` of a client in the declaration.
@Suite struct KeySetLocationTests {
    @Test(arguments: [
        "https://keys.example/a.json", "https://keys.example:8443/a?b=c", "http://127.0.0.1:1/a",
    ])
    func `it is kept as it was written, in the database too`(url: String) throws {
        let settings = try Sample.settings("\"jwks_uri\":\"\(url)\"")
        #expect(settings.jwksURI == url)
        var json = JSONWriter()
        json.object { settings.writeMembers(to: &$0) }
        let stored = try StoredDocument.clientSettings(json.text)
        #expect(stored == settings)
        #expect(stored.jwksURI == url)
    }

    @Test func `a client without one is written without one, for replicas that do not know it`()
        throws
    {
        var json = JSONWriter()
        let settings = try Sample.settings()
        json.object { settings.writeMembers(to: &$0) }
        #expect(!json.text.contains("jwks_uri"))
        #expect(settings.jwksURI == nil)
    }
}
