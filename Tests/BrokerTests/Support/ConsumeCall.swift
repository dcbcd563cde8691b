import JOSE

/// A consume call as it goes over the wire.
struct ConsumeCall: Sendable {
    var assertion: String
    var audience: String?
    var type: String?
    /// Instead of the body that the members above make.
    var body: String?
    var fields: [(name: String, value: String)] = [("Content-Type", "application/json")]

    /// With a bearer token.
    init(
        _ assertion: String, token: String?, _ change: (inout ConsumeCall) -> Void = { _ in }
    ) {
        self.assertion = assertion
        if let token { fields.append(("Authorization", "Bearer \(token)")) }
        change(&self)
    }

    mutating func set(_ name: String, _ value: String?) {
        fields.removeAll { $0.name.lowercased() == name.lowercased() }
        if let value { fields.append((name, value)) }
    }

    var octets: [UInt8] {
        var json = JSONWriter()
        json.object {
            $0.member("client_assertion", assertion)
            if let audience { $0.member("audience", audience) }
            if let type { $0.member("client_assertion_type", type) }
        }
        let content = body.map { Array($0.utf8) } ?? json.bytes
        var head = "POST /v1/assertions/consume HTTP/1.1\r\nHost: localhost\r\n"
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        head += "Content-Length: \(content.count)\r\n\r\n"
        return Array(head.utf8) + content
    }
}
