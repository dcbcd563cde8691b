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
        return CacheableDocument(
            contentType: "application/jwk-set+json", body: keys.body, tag: keys.tag,
            maximumAge: Self.maximumAge
        ).response(to: head)
    }
}
