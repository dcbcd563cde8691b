import JOSE
import SocketServer
import Testing

@testable import Broker

@Suite struct CredentialsTests {
    func head(_ fields: [(String, String)], certificate: ClientCertificate? = nil)
        -> HTTPRequestHead
    {
        HTTPRequestHead(
            method: "POST", path: "/v1/assertions",
            headers: HTTPHeaders(fields.map { (name: $0.0, value: $0.1) }),
            clientCertificate: certificate)
    }

    func read(_ fields: [(String, String)]) throws -> Credentials {
        try Credentials(head(fields))
    }

    func refusal(_ fields: [(String, String)]) -> BrokerError? {
        do {
            _ = try Credentials(head(fields))
            return nil
        } catch { return error }
    }

    @Test(arguments: ["Bearer abc", "bearer abc", "BEARER abc"])
    func `the scheme has any letter case (RFC 9110 §11.1)`(_ field: String) throws {
        #expect(try read([("Authorization", field)]).token?.expose() == "abc")
    }

    @Test func `token and proof may come together`() throws {
        let both = try read([("Authorization", "Bearer abc"), ("DPoP", "a.b.c")])
        #expect(both.token?.expose() == "abc")
        #expect(both.proof?.expose() == "a.b.c")
    }

    @Test func `a request without either is unauthenticated`() {
        #expect(refusal([]) == .callerUnauthenticated(.missing))
        #expect(refusal([("Cookie", "Bearer abc")]) == .callerUnauthenticated(.missing))
    }

    @Test func `a certificate is a credential, and excuses no malformed field`() throws {
        let certificate = Sample.certificate()
        #expect(try Credentials(head([], certificate: certificate)).certificate == certificate)
        #expect(throws: BrokerError.callerUnauthenticated(.malformed)) {
            try Credentials(head([("Authorization", "Basic abc")], certificate: certificate))
        }
        // A certificate in a field is only text here.
        #expect(refusal([("Client-Cert", ":AAAA:")]) == .callerUnauthenticated(.missing))
    }

    @Test(arguments: [
        "", "Bearer", "Bearer ", "Bearer  abc", "Bearer abc def", "Basic abc", "DPoP abc", "abc",
        "Bearer\tabc", "Bearer " + String(repeating: "a", count: 513),
    ])
    func `another form of Authorization is unauthenticated, also beside a proof`(_ field: String) {
        #expect(refusal([("Authorization", field)]) == .callerUnauthenticated(.malformed))
        #expect(
            refusal([("Authorization", field), ("DPoP", "a.b.c")])
                == .callerUnauthenticated(.malformed))
    }

    @Test(arguments: ["Authorization", "DPoP"])
    func `a repeated field is malformed (RFC 9110 §5.3)`(_ name: String) {
        let value = name == "DPoP" ? "a.b.c" : "Bearer abc"
        #expect(
            refusal([(name, value), (name.lowercased(), value)])
                == .malformedRequest("\(name) is repeated"))
    }

    @Test func `credentials do not show in any description`() throws {
        let credentials = try read([("Authorization", "Bearer canary-1"), ("DPoP", "canary-2")])
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped] {
            #expect(!text.contains("canary"))
        }
    }
}
