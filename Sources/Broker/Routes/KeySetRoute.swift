import AssertionMint
import SocketServer

/// `GET /v1/clients/{client_id}/jwks.json`: the client's public keys, for the provider's `jwks_uri` (RFC 7517 §5).
struct KeySetRoute: Sendable {
    /// Seconds a provider may keep the key set. A new key is published at least that long before it signs.
    static let maximumAge = 300

    /// Seconds a replica may be without word from the database before the set it serves may be kept for less.
    static let tolerated: Int64 = 5

    let directories: DirectoryKeeper
    var now: @Sendable () -> MonotonicTime = { .now() }

    func response(for id: ClientId, head: HTTPRequestHead) throws(BrokerError) -> HTTPResponse {
        guard let (directory, confirmedAt) = directories.confirmed else {
            throw .unavailable(.notReady)
        }
        guard let keys = directory.clients[id]?.keySet else { throw .notFound }
        return CacheableDocument(
            contentType: "application/jwk-set+json", body: keys.body, tag: keys.tag,
            maximumAge: Self.maximumAge(confirmedAt: confirmedAt, now: now())
        ).response(to: head)
    }

    /// A replica that is cut off from the database may lack a key that was published meanwhile. So what it serves may be kept for as
    /// long after it was last known to be the newest as the set of any other replica, and not for longer.
    static func maximumAge(confirmedAt: MonotonicTime, now: MonotonicTime) -> Int {
        guard now > confirmedAt else { return maximumAge }
        let seconds = Int64((now.nanoseconds - confirmedAt.nanoseconds) / 1_000_000_000)
        return max(0, maximumAge - Int(max(0, seconds - tolerated)))
    }
}
