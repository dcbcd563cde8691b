import HTTPClient
import JOSE

/// One request in parts, of which a test breaks exactly one.
struct Attempt {
    var method = "POST"
    var path: String
    var query = ""
    var form: [(name: String, value: String)] = []
    /// Sent instead of the form.
    var body: [UInt8]?
    var contentType: String? = "application/x-www-form-urlencoded"
    var headers: [(name: String, value: String)] = []
    var assertion: JWTParts?
    var proof: JWTParts?

    subscript(_ name: String) -> String? {
        get { form.first { $0.name == name }?.value }
        set {
            form.removeAll { $0.name == name }
            if let newValue { form.append((name, newValue)) }
        }
    }

    func fields() throws -> [(name: String, value: String)] {
        var fields = headers
        if let contentType { fields.append(("Content-Type", contentType)) }
        if let proof { fields.append(("DPoP", try proof.compact())) }
        return fields
    }

    func octets() throws -> [UInt8]? {
        if method == "GET" { return nil }
        if let body { return body }
        var form = form
        if let assertion { form.append(("client_assertion", try assertion.compact())) }
        return Array(
            form.map { "\(Self.escape($0.name))=\(Self.escape($0.value))" }
                .joined(separator: "&").utf8)
    }

    private static func escape(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF")
        return text.utf8.reduce(into: "") { result, octet in
            switch octet {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e:
                result.unicodeScalars.append(Unicode.Scalar(octet))
            default: result += "%\(digits[Int(octet >> 4)])\(digits[Int(octet & 15)])"
            }
        }
    }
}

/// What came back.
struct Reply {
    let status: Int
    let headers: HTTPFields
    let body: [UInt8]

    init(_ answer: HTTPAnswer) {
        status = answer.status
        headers = answer.headers
        body = answer.body
    }

    var json: JSONValue? { try? JSONValue(parsing: body) }
    var error: String? { json?["error"]?.string }
    var nonce: String? { headers.first("DPoP-Nonce") }

    func text(_ name: String) -> String? { json?[name]?.string }
}
