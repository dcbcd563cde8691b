import JOSE
import SocketServer
import Testing

@testable import Broker

@Suite struct CertificateIdentityTests {
    func identity(_ json: String) throws -> CertificateIdentity? {
        CertificateIdentity(try JSONValue(parsing: Array(json.utf8)))
    }

    static let hex = String(repeating: "0aF9", count: 16)

    @Test(arguments: [
        (#"{"san_dns":"Backend.Bank.EXAMPLE"}"#, #"{"san_dns":"backend.bank.example"}"#),
        (#"{"san_dns":"backend"}"#, #"{"san_dns":"backend"}"#),
        (#"{"san_dns":"xn--bcher-kva.example"}"#, #"{"san_dns":"xn--bcher-kva.example"}"#),
        (
            #"{"san_uri":"spiffe://bank.example/Backend"}"#,
            #"{"san_uri":"spiffe://bank.example/Backend"}"#
        ),
        (#"{"san_uri":"urn:uuid:f81d4fae-7dec"}"#, #"{"san_uri":"urn:uuid:f81d4fae-7dec"}"#),
        (#"{"san_email":"Ops@bank.example"}"#, #"{"san_email":"Ops@bank.example"}"#),
        (#"{"san_ip":"192.0.2.7"}"#, #"{"san_ip":"192.0.2.7"}"#),
        (#"{"san_ip":"2001:DB8:0::7"}"#, #"{"san_ip":"2001:db8::7"}"#),
        ("{\"sha256\":\"\(hex)\"}", "{\"sha256\":\"\(hex.lowercased())\"}"),
        (
            #"{"sha256":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#,
            "{\"sha256\":\"\(String(repeating: "0", count: 64))\"}"
        ),
    ])
    func `each kind is read, and written in its one canonical form`(
        _ text: String, _ canonical: String
    ) throws {
        let identity = try #require(try identity(text))
        var json = JSONWriter()
        identity.write(to: &json)
        let written = try JSONValue(parsing: json.bytes)
        #expect(json.text.replacing("\\/", with: "/") == canonical)
        #expect(CertificateIdentity(written) == identity)
    }

    @Test(arguments: [
        // Empty, patterns, and what is no host name.
        #"{"san_dns":""}"#, #"{"san_dns":"*"}"#, #"{"san_dns":"*.bank.example"}"#,
        #"{"san_dns":"back*.bank.example"}"#, #"{"san_dns":"bank.example."}"#,
        #"{"san_dns":".bank.example"}"#, #"{"san_dns":"a..b"}"#, #"{"san_dns":"-a.example"}"#,
        #"{"san_dns":"a-.example"}"#, #"{"san_dns":"a b"}"#, #"{"san_dns":"bücher.example"}"#,
        #"{"san_dns":"a_b.example"}"#, #"{"san_dns":"192.0.2.1"}"#,
        #"{"san_dns":"a\u0000.example"}"#,
        "{\"san_dns\":\"\(String(repeating: "a", count: 64)).example\"}",
        "{\"san_dns\":\"\(String(repeating: "a.", count: 130))example\"}",
        #"{"san_uri":""}"#, #"{"san_uri":"spiffe"}"#, #"{"san_uri":"spiffe:"}"#,
        #"{"san_uri":"://x"}"#, #"{"san_uri":"1a:x"}"#, #"{"san_uri":"spiffe://bank.example/*"}"#,
        #"{"san_uri":"spiffe://bank example"}"#, #"{"san_uri":"spiffe://bänk"}"#,
        #"{"san_email":""}"#, #"{"san_email":"ops"}"#, #"{"san_email":"@bank.example"}"#,
        #"{"san_email":"ops@"}"#, #"{"san_email":"a@b@c"}"#, #"{"san_email":"*@bank.example"}"#,
        #"{"san_ip":""}"#, #"{"san_ip":"0.0.0.0"}"#, #"{"san_ip":"::"}"#,
        #"{"san_ip":"192.0.2.0/24"}"#, #"{"san_ip":"192.0.2"}"#, #"{"san_ip":"backend"}"#,
        #"{"sha256":""}"#, "{\"sha256\":\"\(hex.dropLast())\"}", "{\"sha256\":\"\(hex)0\"}",
        "{\"sha256\":\"g\(hex.dropFirst())\"}", "{\"sha256\":\"+\(hex.dropFirst())\"}",
        #"{"sha256":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB"}"#,
        #"{"sha256":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}"#,
        // Not one member, not a text, not known.
        "{}", #"{"san_dns":"a","san_uri":"a:b"}"#, #"{"san_dns":null}"#, #"{"san_dns":["a"]}"#,
        #"{"cn":"backend"}"#, #"{"SAN_DNS":"backend"}"#, #""backend""#, "[]", "null", "1",
    ])
    func `anything else is refused`(_ text: String) throws {
        #expect(try identity(text) == nil)
    }

    func settings(_ certificates: String) throws -> ClientSettings {
        try Sample.settings(gates: "[\"mtls\"]", "\"certificates\":\(certificates)")
    }

    @Test func `a client names a certificate by any one of its names or by its thumbprint`() throws
    {
        let ip = ClientCertificate.Name.ip(try #require(RemoteAddress("192.0.2.7")))
        let certificate = Sample.certificate(
            0, .dns("backend.bank.example"), .uri("spiffe://bank/backend"), .email("ops@b.example"),
            ip)
        for named in [
            #"[{"san_dns":"BACKEND.bank.example"}]"#, #"[{"san_uri":"spiffe://bank/backend"}]"#,
            #"[{"san_email":"ops@b.example"}]"#, #"[{"san_ip":"192.0.2.7"}]"#,
            "[{\"sha256\":\"\(String(repeating: "0", count: 64))\"}]",
            #"[{"san_dns":"other.example"},{"san_ip":"192.0.2.7"}]"#,
        ] {
            #expect(try settings(named).names(certificate))
        }
        for other in [
            #"[{"san_dns":"bank.example"}]"#, #"[{"san_dns":"a.backend.bank.example"}]"#,
            #"[{"san_uri":"spiffe://bank/Backend"}]"#, #"[{"san_uri":"spiffe://bank/backend/"}]"#,
            #"[{"san_email":"OPS@b.example"}]"#, #"[{"san_ip":"192.0.2.70"}]"#,
            "[{\"sha256\":\"\(String(repeating: "1", count: 64))\"}]",
        ] {
            #expect(try !settings(other).names(certificate))
        }
    }

    /// A name of one kind is never taken for one of another, whatever its text.
    @Test func `kinds do not mix`() throws {
        let asEmail = Sample.certificate(1, .email("backend.bank.example"))
        let asURI = Sample.certificate(1, .uri("backend.bank.example"))
        let named = try settings(#"[{"san_dns":"backend.bank.example"}]"#)
        #expect(!named.names(asEmail))
        #expect(!named.names(asURI))
        // What an authority wrote as a pattern matches nothing.
        #expect(!named.names(Sample.certificate(1, .dns("*.bank.example"))))
    }
}
