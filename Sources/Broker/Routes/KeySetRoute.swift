import AssertionMint
import SocketServer

/// `GET /v1/clients/{client_id}/jwks.json`: the client's public keys, for the provider's `jwks_uri` (RFC 7517 §5).
struct KeySetRoute: Sendable {
    /// Seconds a provider may keep the key set. A new key is published at least that long before it signs.
    static let maximumAge = 300

    let directories: DirectoryKeeper

    func response(for id: ClientId, head: HTTPRequestHead) throws(BrokerError) -> HTTPResponse {
        guard let directory = directories.current else { throw .unavailable(.notReady) }
        guard let keys = directory.clients[id]?.keySet else { throw .notFound }
        let headers = [
            ("Content-Type", "application/jwk-set+json"),
            ("Cache-Control", "public, max-age=\(Self.maximumAge)"),
            ("ETag", keys.etag),
        ]
        guard !Self.matches(head.headers.all("if-none-match"), keys.etag) else {
            return HTTPResponse(status: 304, headers: headers)
        }
        return HTTPResponse(status: 200, headers: headers, body: keys.body)
    }

    /// `If-None-Match` compares weakly (RFC 9110 §13.1.2).
    private static func matches(_ fields: [String], _ etag: String) -> Bool {
        fields.joined(separator: ",").split(separator: ",").contains { candidate in
            var candidate = candidate.drop { $0 == " " || $0 == "\t" }
            while candidate.last == " " || candidate.last == "\t" { candidate.removeLast() }
            if candidate.hasPrefix("W/") { candidate.removeFirst(2) }
            return candidate == etag[...] || candidate == "*"
        }
    }
}
