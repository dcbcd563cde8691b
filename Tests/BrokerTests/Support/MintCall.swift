import JOSE

@testable import Broker

/// A mint call in octets; a test changes what it needs.
struct MintCall: Sendable {
    var kind = TokenKind.clientAssertion
    var clientId = "app"
    var audience = Sample.issuer
    var dpopJkt = Sample.jkt
    /// The member `jwk`, as it is sent.
    var jwk: String?
    /// Instead of the body that the members above make.
    var body: String?
    var fields: [(name: String, value: String)] = [("Content-Type", "application/json")]

    /// With a bearer token.
    static func token(_ token: String, _ change: (inout MintCall) -> Void = { _ in }) -> MintCall {
        var call = MintCall()
        call.fields.append(("Authorization", "Bearer \(token)"))
        change(&call)
        return call
    }

    /// With a proof of the install whose thumbprint is asked for.
    static func proof(
        _ proof: String, jkt: String, _ change: (inout MintCall) -> Void = { _ in }
    ) -> MintCall {
        var call = MintCall()
        call.dpopJkt = jkt
        call.fields.append(("DPoP", proof))
        change(&call)
        return call
    }

    mutating func set(_ name: String, _ value: String?) {
        fields.removeAll { $0.name.lowercased() == name.lowercased() }
        if let value { fields.append((name, value)) }
    }

    var octets: [UInt8] {
        let content = Array((body ?? json).utf8)
        var head = "POST \(Route.mint(kind).pattern.rawValue) HTTP/1.1\r\nHost: localhost\r\n"
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        head += "Content-Length: \(content.count)\r\n\r\n"
        return Array(head.utf8) + content
    }

    /// The audience is sent with every kind: where it has no meaning it is ignored.
    private var json: String {
        var json = JSONWriter()
        json.object {
            $0.member("client_id", clientId)
            $0.member("audience", audience)
            $0.member("dpop_jkt", dpopJkt)
        }
        return jwk.map { "\(json.text.dropLast()),\"jwk\":\($0)}" } ?? json.text
    }
}
