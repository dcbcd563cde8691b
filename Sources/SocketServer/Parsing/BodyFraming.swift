/// How the end of a request's body is known (RFC 9112 §6.3).
enum BodyFraming: Sendable, Equatable {
    case none
    case length(Int)
    case chunked

    /// More digits than this and no number that any server could mean is left; it also keeps `Int` from overflow.
    private static let maximumDigits = 18

    /// The number in a `Content-Length`: digits and nothing else (RFC 9110 §8.6).
    static func contentLength(_ value: Slice<Octets>) throws(HTTPRejection) -> Int {
        guard (1...maximumDigits).contains(value.count) else { throw .malformedContentLength }
        var length = 0
        for octet in value {
            guard octet.isDigit else { throw .malformedContentLength }
            length = length * 10 + Int(octet - 0x30)
        }
        return length
    }

    /// Whether a `Transfer-Encoding` is one this server can read: the word `chunked` alone.
    ///
    /// Blanks are legal around a value, but only one SP in front is ever sent by a sound client, and other blanks
    /// here are how one server is made to see a field that the next one does not.
    static func checkCoding(_ rawValue: Slice<Octets>) throws(HTTPRejection) {
        let value = rawValue.first == .space ? rawValue.dropFirst() : rawValue
        if value.equals(lowercase: "chunked") { return }
        let codings = value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map(\.withoutOuterBlanks)
        guard let last = codings.last,
            codings.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isTokenOctet) })
        else { throw .ambiguousFraming }
        let isUnknownBeforeChunked =
            codings.count > 1 && last.equals(lowercase: "chunked")
            && !codings.dropLast().contains { $0.equals(lowercase: "chunked") }
        let isUnknownAlone =
            codings.count == 1 && value.count == last.count
            && !["gzip", "x-gzip", "deflate", "compress", "x-compress", "identity", "chunked"]
                .contains { last.lazy.map(\.lowercased).elementsEqual($0.utf8) }
        throw isUnknownBeforeChunked || isUnknownAlone ? .codingNotImplemented : .ambiguousFraming
    }
}
