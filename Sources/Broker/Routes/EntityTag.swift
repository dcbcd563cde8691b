import JOSE
import SocketServer

/// A strong validator of a document (RFC 9110 §8.8.3), made of its octets.
struct EntityTag: Sendable, Equatable {
    /// As it stands in `ETag`, with its quotes.
    let field: String

    init(of document: [UInt8]) {
        field = "\"\(Base64URL.encode(SHA256.hash(document).prefix(16)))\""
    }

    /// Whether `If-None-Match` names it, in one field or several; that field compares weakly (RFC 9110 §13.1.2).
    func isKnown(to head: HTTPRequestHead) -> Bool {
        head.headers.all("if-none-match").joined(separator: ",").split(separator: ",").contains {
            var candidate = $0.drop { $0 == " " || $0 == "\t" }
            while candidate.last == " " || candidate.last == "\t" { candidate.removeLast() }
            if candidate.hasPrefix("W/") { candidate.removeFirst(2) }
            return candidate == field[...] || candidate == "*"
        }
    }
}
