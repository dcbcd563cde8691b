/// Writes a response as HTTP/1.1, header and body in one buffer.
enum ResponseEncoder {
    /// How the answered request shapes its answer.
    struct Context {
        var isHead = false
        var isHTTP10 = false
        /// Whether this server's own TLS stands between.
        var isTLS = false
        var closes = false
    }

    /// Whether status and fields are HTTP. Anything else must not be written: a line end in a value would let it
    /// pass for a field, or for an answer, of its own.
    static func isLegal(_ response: HTTPResponse) -> Bool {
        (200...599).contains(response.status) && response.headers.allSatisfy(isLegal)
    }

    /// Appends a legal response.
    /// - Parameter date: the `Date` field with its line end.
    static func append(
        _ response: HTTPResponse, _ context: Context, date: [UInt8], to output: inout [UInt8]
    ) {
        StatusLine.append(response.status, to: &output)
        for (name, value) in response.headers where !isOurs(name) {
            append(name, value, to: &output)
        }
        output.append(contentsOf: date)
        // Nobody may take an answer for anything but what it says it is.
        output.append(contentsOf: "X-Content-Type-Options: nosniff\r\n".utf8)
        // For a year nobody asks this host without TLS. Over plain HTTP the field must not be sent (RFC 6797 §7.2): there
        // it is the proxy's to say.
        if context.isTLS {
            output.append(contentsOf: "Strict-Transport-Security: max-age=31536000\r\n".utf8)
        }
        // In a 304 it would have to be the length of the 200 that is left out (RFC 9110 §8.6).
        if response.status != 204, response.status != 304 {
            append("Content-Length", String(response.body.count), to: &output)
        }
        if context.closes {
            output.append(contentsOf: "Connection: close\r\n".utf8)
        } else if context.isHTTP10 {
            output.append(contentsOf: "Connection: keep-alive\r\n".utf8)
        }
        output.append(contentsOf: "\r\n".utf8)
        if !context.isHead, response.status != 204, response.status != 304 {
            output.append(contentsOf: response.body)
        }
    }

    private static func append(_ name: String, _ value: String, to output: inout [UInt8]) {
        output.append(contentsOf: name.utf8)
        output.append(contentsOf: ": ".utf8)
        output.append(contentsOf: value.utf8)
        output.append(contentsOf: "\r\n".utf8)
    }

    private static func isLegal(_ field: (name: String, value: String)) -> Bool {
        !field.name.isEmpty && field.name.utf8.allSatisfy(\.isTokenOctet)
            && field.value.utf8.allSatisfy(\.isFieldOctet)
    }

    /// The fields that describe the connection and the framing are the server's alone.
    private static func isOurs(_ name: String) -> Bool {
        switch name.utf8.count {
        case 4: equals(name, "date")
        case 10: equals(name, "connection")
        case 14: equals(name, "content-length")
        case 17: equals(name, "transfer-encoding")
        default: false
        }
    }

    private static func equals(_ name: String, _ lowercase: StaticString) -> Bool {
        name.utf8.equals(lowercase: lowercase)
    }
}
