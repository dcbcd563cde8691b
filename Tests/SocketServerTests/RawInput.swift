import Testing

/// Octets a hostile or broken client could send, and what they deserve.
struct RawInput: Sendable, CustomTestStringConvertible {
    /// What is wrong with it.
    let fault: String
    let bytes: [UInt8]
    /// The statuses of the answers, in order.
    let statuses: [Int]
    /// Whether the server must end the connection after the last of them.
    let closes: Bool

    var testDescription: String { fault }

    init(_ fault: String, _ text: String, _ statuses: Int..., closes: Bool = true) {
        self.init(fault, Array(text.utf8), statuses, closes: closes)
    }

    init(_ fault: String, _ bytes: [UInt8], _ statuses: [Int], closes: Bool = true) {
        self.fault = fault
        self.bytes = bytes
        self.statuses = statuses
        self.closes = closes
    }

    /// A request that would be answered 200 if a server took the octets before it for something else.
    static let second = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"

    /// A request line of `GET /hello` with these field lines, then a second request that must not run.
    static func fields(_ fault: String, _ lines: String, _ status: Int) -> RawInput {
        RawInput(fault, "GET /hello HTTP/1.1\r\n\(lines)\r\n\(second)", status)
    }

    /// This request line with a `Host`, then a second request.
    static func line(_ fault: String, _ line: String, _ status: Int) -> RawInput {
        RawInput(fault, "\(line)\r\nHost: a\r\n\r\n\(second)", status)
    }

    /// A POST of `/echo` with these field lines and this body, then a second request.
    static func body(_ fault: String, _ lines: String, _ body: String, _ status: Int) -> RawInput {
        RawInput(fault, "POST /echo HTTP/1.1\r\nHost: a\r\n\(lines)\r\n\(body)\(second)", status)
    }

    /// The same with the one field `Content-Length: value`.
    static func length(_ value: String, _ status: Int) -> RawInput {
        body("Content-Length: \(value.prefix(24))", "Content-Length: \(value)\r\n", "12345", status)
    }

    /// The same with `Transfer-Encoding:` and this raw value.
    static func coding(_ rawValue: String, _ status: Int) -> RawInput {
        body(
            "Transfer-Encoding:\(rawValue)", "Transfer-Encoding:\(rawValue)\r\n", "0\r\n\r\n",
            status)
    }

    /// The same with a chunked body.
    static func chunks(_ fault: String, _ body: String, _ status: Int) -> RawInput {
        .body(fault, "Transfer-Encoding: chunked\r\n", body, status)
    }
}
