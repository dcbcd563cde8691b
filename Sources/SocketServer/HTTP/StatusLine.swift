/// `HTTP/1.1 200 OK` and its like.
enum StatusLine {
    static func append(_ status: Int, to output: inout [UInt8]) {
        output.append(contentsOf: "HTTP/1.1 ".utf8)
        output.append(0x30 + UInt8(status / 100 % 10))
        output.append(0x30 + UInt8(status / 10 % 10))
        output.append(0x30 + UInt8(status % 10))
        output.append(.space)
        output.append(contentsOf: phrase(status).utf8)
        output.append(contentsOf: "\r\n".utf8)
    }

    /// Phrases of RFC 9110 §15; an unlisted status has an empty one, which is legal.
    private static func phrase(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: ""
        }
    }
}
