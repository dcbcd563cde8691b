internal import COpenSSL

/// Session tickets: resumption without memory on this side (RFC 5077, RFC 8446 §4.6.1).
extension TLSContext {
    func setTicketRules() throws(ServerError) {
        copenssl_SSL_CTX_switch_session_cache_off(context)
        SSL_CTX_set_timeout(context, Int(TicketKeys.lifetime))
        // No early data: a replayed request must never be taken for a new one.
        let owner = Unmanaged.passUnretained(self).toOpaque()
        // A session with a client's certificate belongs to this context: OpenSSL wants the mark, the keys enforce it.
        var mark = [UInt8](repeating: 0, count: 32)
        guard SSL_CTX_set_max_early_data(context, 0) == 1,
            RAND_bytes(&mark, 32) == 1,
            SSL_CTX_set_session_id_context(context, mark, 32) == 1,
            SSL_CTX_set_ex_data(context, 0, owner) == 1,
            SSL_CTX_set_tlsext_ticket_key_evp_cb(
                context,
                { ssl, name, vector, cipher, mac, seals in
                    guard let owner = TLSContext.owner(of: ssl), let name, let vector, let cipher,
                        let mac
                    else { return -1 }
                    return seals == 1
                        ? owner.sealTicket(name, vector, cipher, mac)
                        : owner.openTicket(name, vector, cipher, mac)
                }) == 1,
            SSL_CTX_set_session_ticket_cb(
                context,
                { ssl, _ in TLSContext.owner(of: ssl)?.noteTerms(ssl) == true ? 1 : 0 },
                { ssl, session, _, _, status, _ in
                    guard let owner = TLSContext.owner(of: ssl) else {
                        return SSL_TICKET_RETURN_ABORT
                    }
                    return owner.judgeTicket(session, status, of: ssl)
                }, nil) == 1
        else { throw .tlsSetup(reason: OpenSSLErrors.drain()) }
    }

    /// A session keeps its context, so the pointer is good for as long as OpenSSL can call.
    private static func owner(of ssl: OpaquePointer?) -> TLSContext? {
        guard let ssl, let context = SSL_get_SSL_CTX(ssl),
            let pointer = SSL_CTX_get_ex_data(context, 0)
        else { return nil }
        return Unmanaged<TLSContext>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// - Returns: 1, or -1 for failure.
    private func sealTicket(
        _ name: UnsafeMutablePointer<UInt8>, _ vector: UnsafeMutablePointer<UInt8>,
        _ cipher: OpaquePointer, _ mac: OpaquePointer
    ) -> Int32 {
        guard let key = ticketKeys.sealing(now: now()),
            key.prepareSealing(name: name, vector: vector, cipher, mac)
        else { return -1 }
        return 1
    }

    /// - Returns: 1, 2 when the client should get a new ticket, 0 when the key is unknown, or -1 for failure.
    private func openTicket(
        _ name: UnsafePointer<UInt8>, _ vector: UnsafePointer<UInt8>,
        _ cipher: OpaquePointer, _ mac: OpaquePointer
    ) -> Int32 {
        guard let (key, seals) = ticketKeys.opening(name: name, now: now()) else { return 0 }
        guard key.prepareOpening(vector: vector, cipher, mac) else { return -1 }
        return seals ? 1 : 2
    }

    /// A ticket is about to be made.
    private func noteTerms(_ ssl: OpaquePointer?) -> Bool {
        guard let ssl, let session = SSL_get_session(ssl), let terms = terms(of: ssl) else {
            return false
        }
        return terms.store(in: session)
    }

    /// Until when what a complete handshake found holds. After a resumption that is no longer than before it.
    func terms(of ssl: OpaquePointer) -> TicketTerms? {
        let now = now()
        guard SSL_session_reused(ssl) == 1 else {
            return TicketTerms(
                now: now,
                certificatesEnd: ClientVerification.notAfter(SSL_get0_verified_chain(ssl)),
                listsEnd: authorities?.revocationNotAfter)
        }
        var terms = SSL_get_session(ssl).flatMap(TicketTerms.init(of:))
        terms?.issuedAt = now
        return terms
    }

    /// A ticket was opened, or could not be. Whatever is wrong with it leads to a full handshake, never to an error.
    private func judgeTicket(
        _ session: OpaquePointer?, _ status: Int32, of ssl: OpaquePointer?
    ) -> Int32 {
        switch status {
        case SSL_TICKET_SUCCESS, SSL_TICKET_SUCCESS_RENEW:
            guard let session, let terms = TicketTerms(of: session), terms.allow(now: now()) else {
                return SSL_TICKET_RETURN_IGNORE_RENEW
            }
            // In TLS 1.3 a client uses each ticket once, so that its visits cannot be linked (RFC 8446 §C.4): it needs the next.
            let isRenewed = status == SSL_TICKET_SUCCESS_RENEW || SSL_version(ssl) == TLS1_3_VERSION
            return isRenewed ? SSL_TICKET_RETURN_USE_RENEW : SSL_TICKET_RETURN_USE
        default: return SSL_TICKET_RETURN_IGNORE_RENEW
        }
    }
}
