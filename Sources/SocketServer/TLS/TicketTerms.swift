internal import COpenSSL

/// What a session ticket says about itself, sealed into it: since when it lives, and until when what its full handshake
/// found holds. A ticket is taken only while both stand, so a certificate that has expired since cannot come back in one.
struct TicketTerms: Equatable {
    /// When this ticket was made, in seconds since 1970 UTC.
    var issuedAt: Int64
    /// Until when no new full handshake is needed, in seconds since 1970 UTC.
    var holdsUntil: Int64

    /// The longest a full handshake counts, over however many resumptions.
    private static let longest: Int64 = 24 * 3600

    /// After a full handshake.
    /// - Parameters:
    ///   - certificatesEnd: of the client's chain; `nil` without one.
    ///   - listsEnd: of the revocation lists it was held against; `nil` without them.
    init(now: Int64, certificatesEnd: Int64?, listsEnd: Int64?) {
        issuedAt = now
        var ends = [now + Self.longest]
        if let certificatesEnd { ends += [certificatesEnd, listsEnd ?? certificatesEnd] }
        holdsUntil = ends.min() ?? now
    }

    /// Reads them from a session; `nil` when it has none.
    init?(of session: OpaquePointer) {
        var data: UnsafeMutableRawPointer?
        var length = 0
        guard SSL_SESSION_get0_ticket_appdata(session, &data, &length) == 1, let data, length == 16
        else { return nil }
        issuedAt = data.loadUnaligned(as: Int64.self)
        holdsUntil = data.loadUnaligned(fromByteOffset: 8, as: Int64.self)
    }

    /// Writes them into a session.
    func store(in session: OpaquePointer) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { room in
            room.storeBytes(of: issuedAt, as: Int64.self)
            room.storeBytes(of: holdsUntil, toByteOffset: 8, as: Int64.self)
            return SSL_SESSION_set1_ticket_appdata(session, room.baseAddress, 16) == 1
        }
    }

    func allow(now: Int64) -> Bool {
        (0..<TicketKeys.lifetime).contains(now - issuedAt) && now <= holdsUntil
    }
}
