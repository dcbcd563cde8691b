/// `method SP request-target SP HTTP-version` (RFC 9112 §3), taken apart but with the target still unread.
struct RequestLine {
    let method: String
    let target: Slice<Octets>
    let isHTTP10: Bool

    /// The longest method that is looked at; a longer one is unknown.
    static let maximumMethod = 32

    /// - Parameter line: the line without its CR LF.
    init(_ line: Slice<Octets>, targetLimit: Int) throws(HTTPRejection) {
        guard let afterMethod = line.firstIndex(of: .space), afterMethod > line.startIndex,
            line[..<afterMethod].allSatisfy(\.isTokenOctet)
        else { throw .malformedRequestLine }
        let rest = line[(afterMethod + 1)...]
        // The version is looked for from the front as well: a second blank in the target is an error, never
        // something to skip.
        guard let afterTarget = rest.firstIndex(of: .space), afterTarget > rest.startIndex else {
            throw .malformedRequestLine
        }
        target = rest[..<afterTarget]
        isHTTP10 = try Self.isHTTP10(rest[(afterTarget + 1)...])
        guard target.count <= targetLimit else { throw .targetTooLong }
        guard let known = Self.knownMethod(line[..<afterMethod]) else {
            throw .methodNotImplemented
        }
        method = known
    }

    /// `HTTP/1.` and a digit, in this letter case. A higher minor version is served as 1.1 (RFC 9110 §2.5).
    private static func isHTTP10(_ version: Slice<Octets>) throws(HTTPRejection) -> Bool {
        let start = version.startIndex
        guard version.count == 8, version.prefix(5).elementsEqual("HTTP/".utf8),
            version[start + 5].isDigit, version[start + 6] == UInt8(ascii: "."),
            version[start + 7].isDigit
        else { throw .malformedRequestLine }
        guard version[start + 5] == UInt8(ascii: "1") else { throw .versionNotSupported }
        return version[start + 7] == UInt8(ascii: "0")
    }

    /// Methods are case-sensitive (RFC 9110 §9.1).
    private static func knownMethod(_ octets: Slice<Octets>) -> String? {
        knownMethods.first { octets.elementsEqual($0.utf8) }
    }

    private static let knownMethods = [
        "POST", "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "QUERY",
    ]
}
