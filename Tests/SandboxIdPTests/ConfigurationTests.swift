import JOSE
import SocketServer
import Testing

@testable import SandboxIdP

@Suite struct ConfigurationTests {
    /// A good file as members a test can change; the values are JSON texts.
    static let good: [String: String] = [
        "listen": #"{"address":"127.0.0.1","port":0}"#, "issuer": "\"https://127.0.0.1:8443\"",
        "tls": #"{"certificate_file":"/dev/null","key_file":"/dev/null"}"#,
        "ca_file": "\"/dev/null\"",
        "clients":
            #"[{"client_id":"app","jwks_uri":"https://b.example/j","redirect_uris":["https://a.example/cb"],"first_party_challenge_enabled":true}]"#,
        "options": #"{"rotate_refresh_tokens":true,"access_token_lifetime":120}"#,
    ]

    static func parse(_ members: [String: String]) throws(ConfigurationError)
        -> SandboxConfiguration
    {
        let text = "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
        return try SandboxConfiguration(parsing: Array(text.utf8))
    }

    @Test func `a good file is read`() throws {
        let configuration = try Self.parse(Self.good)
        #expect(configuration.provider.uris.issuer == "https://127.0.0.1:8443")
        #expect(configuration.provider.options.rotatesRefreshTokens)
        #expect(configuration.provider.lifetimes.accessToken == 120)
        #expect(configuration.provider.clients["app"]?.firstPartyChallengeEnabled == true)
        #expect(configuration.provider.resources == ["https://127.0.0.1:8443/api"])
    }

    static let faults: [(String, String?, String)] = [
        ("listen", nil, "listen.port"), ("listen", #"{"port":65536}"#, "listen.port"),
        ("listen", #"{"port":"8443"}"#, "listen.port"),
        ("listen", #"{"port":1,"address":"localhost"}"#, "listen.address"),
        ("listen", "7", "listen"), ("issuer", nil, "issuer"),
        ("issuer", "\"http://a.example\"", "issuer"),
        ("issuer", "\"https://a.example?x\"", "issuer"),
        ("issuer", "\"https://a.example#x\"", "issuer"),
        ("issuer", "\"https://u@a.example\"", "issuer"), ("issuer", "\"\"", "issuer"),
        ("tls", nil, "tls.certificate_file"),
        ("tls", #"{"certificate_file":"/dev/null","key_file":"/nowhere"}"#, "tls.key_file"),
        ("ca_file", "\"/nowhere\"", "ca_file"), ("ca_file", "1", "ca_file"),
        ("clients", nil, "clients"), ("clients", "{}", "clients"),
        ("clients", "[{}]", "clients[0].client_id"),
        ("clients", #"[{"client_id":"a"}]"#, "clients[0].jwks_uri"),
        ("clients", #"[{"client_id":"a","jwks_uri":"http://b.example"}]"#, "clients[0].jwks_uri"),
        (
            "clients", #"[{"client_id":"a","jwks_uri":"https://b.example","secret":"x"}]"#,
            "clients[0].secret"
        ),
        (
            "clients",
            #"[{"client_id":"a","jwks_uri":"https://b.example"},{"client_id":"a","jwks_uri":"https://b.example"}]"#,
            "clients[1].client_id"
        ),
        (
            "clients",
            #"[{"client_id":"a","jwks_uri":"https://b.example","first_party_challenge_enabled":1}]"#,
            "clients[0].first_party_challenge_enabled"
        ),
        (
            "clients", #"[{"client_id":"a","jwks_uri":"https://b.example","scopes":["a b"]}]"#,
            "clients[0].scopes"
        ),
        ("attestation", #"{"mode":"on"}"#, "attestation.mode"),
        ("attestation", #"{"mode":"enforce"}"#, "attestation.key"),
        ("attestation", #"{"mode":"audit","key":{"kty":"EC"}}"#, "attestation.key"),
        ("attestation", #"{"modes":"off"}"#, "attestation.modes"),
        ("options", #"{"access_token_lifetime":0}"#, "options.access_token_lifetime"),
        ("options", #"{"access_token_lifetime":1.5}"#, "options.access_token_lifetime"),
        ("options", #"{"rotate":true}"#, "options.rotate"),
        ("limits", #"{"starts_per_minute":-1}"#, "limits.starts_per_minute"),
        ("resources", #"["x"]"#, "resources"), ("colour", "1", "colour"),
    ]

    @Test(arguments: faults)
    func `a fault is named with its place`(member: String, value: String?, place: String) {
        var members = Self.good
        members[member] = value
        do {
            _ = try Self.parse(members)
            Issue.record("accepted")
        } catch {
            #expect(error.faults.map(\.path).contains(place))
        }
    }

    @Test func `all faults are named at once`() {
        do {
            _ = try Self.parse(["listen": "{}", "issuer": "1", "colour": "1"])
            Issue.record("accepted")
        } catch {
            let places = Set(error.faults.map(\.path))
            #expect(
                places.isSuperset(of: [
                    "listen.port", "issuer", "colour", "clients", "tls.certificate_file",
                    "tls.key_file",
                ]))
        }
    }

    @Test func `a file that is no JSON says where`() {
        do {
            _ = try SandboxConfiguration(parsing: Array("{\n \"issuer\": }".utf8))
            Issue.record("accepted")
        } catch {
            #expect(error.faults.first?.description.hasPrefix("line 2") == true)
        }
    }

    static let commandLines: [([String], Arguments?)] = [
        (["--help"], .help), (["serve", "--help"], .help),
        (["serve", "--config", "f"], .serve(configFile: "f")), ([], nil), (["serve"], nil),
        (["serve", "--config"], nil), (["run"], nil), (["serve", "--config", "f", "g"], nil),
    ]

    @Test(arguments: commandLines)
    func `the command line`(words: [String], expected: Arguments?) {
        #expect((try? Arguments(words)) == expected)
    }
}
