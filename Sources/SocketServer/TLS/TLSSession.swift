internal import COpenSSL

/// One connection's TLS, as a filter between octets and octets: it never touches a socket, so one piece of code reads
/// and writes sockets whether or not there is TLS. Lane-confined.
final class TLSSession {
    enum Handshake { case done, needInput, failed }

    let ssl: OpaquePointer
    /// Kept: OpenSSL's callbacks reach it as long as `ssl` lives.
    let context: TLSContext
    /// Owned by `ssl`: what the peer sent, and what is to be sent to it.
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    private(set) var isHandshaking = true
    private(set) var isAtEnd = false
    /// What the client showed and was found good.
    private(set) var clientCertificate: ClientCertificate?
    /// Until when it needs no new handshake, in seconds since 1970 UTC.
    private(set) var certificateHoldsUntil: Int64 = .min
    /// Octets that came since the last plaintext.
    private var unproductive = 0

    /// A whole handshake with the longest chain fits, and so does the largest record. Beyond it the peer only makes work:
    /// key updates without end, or a greeting that goes on and on.
    private static let unproductiveLimit = 96 * 1024

    /// - Parameter ssl: taken over, also when this fails.
    init?(_ ssl: OpaquePointer, of context: TLSContext) {
        guard let incoming = BIO_new(BIO_s_mem()) else {
            SSL_free(ssl)
            return nil
        }
        guard let outgoing = BIO_new(BIO_s_mem()) else {
            BIO_free(incoming)
            SSL_free(ssl)
            return nil
        }
        // An empty memory BIO means "not yet" (-1), not "the end" (0).
        BIO_ctrl(incoming, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
        BIO_ctrl(outgoing, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
        SSL_set_bio(ssl, incoming, outgoing)
        SSL_set_accept_state(ssl)
        (self.ssl, self.incoming, self.outgoing) = (ssl, incoming, outgoing)
        self.context = context
    }

    deinit { SSL_free(ssl) }

    /// Takes octets from the peer.
    /// - Returns: false when it has sent more than any handshake or record needs, or when memory is short.
    func receive(_ octets: UnsafeRawBufferPointer) -> Bool {
        unproductive += octets.count
        guard unproductive <= Self.unproductiveLimit else { return false }
        return octets.isEmpty
            || BIO_write(incoming, octets.baseAddress, Int32(octets.count)) == Int32(octets.count)
    }

    /// Goes on with the handshake.
    func shakeHands() -> Handshake {
        OpenSSLErrors.forgetOthers()
        let result = SSL_do_handshake(ssl)
        if result == 1 {
            guard takeClientCertificate() else { return .failed }
            isHandshaking = false
            return .done
        }
        if SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ { return .needInput }
        _ = OpenSSLErrors.drain()
        return .failed
    }

    /// Why the client's certificate was refused; `nil` when that is not why the handshake failed.
    var clientRefusal: String? {
        let result = SSL_get_verify_result(ssl)
        guard result != X509_V_OK else { return nil }
        return String(cString: X509_verify_cert_error_string(result))
    }

    /// - Returns: false when there is one but it was not found good. The handshake has looked at that already, in this
    ///   connection or in the one that is resumed: this is the second lock on the same door.
    private func takeClientCertificate() -> Bool {
        guard let certificate = SSL_get0_peer_certificate(ssl) else { return true }
        guard context.authorities != nil, SSL_get_verify_result(ssl) == X509_V_OK,
            let terms = context.terms(of: ssl)
        else { return false }
        certificateHoldsUntil = terms.holdsUntil
        clientCertificate = ClientCertificate(certificate)
        return clientCertificate != nil
    }

    /// Decrypts what has come in.
    /// - Returns: how much, 0 when more input is needed or the peer has ended; `nil` when it broke the protocol.
    func open(into room: UnsafeMutableRawBufferPointer) -> Int? {
        OpenSSLErrors.forgetOthers()
        let count = SSL_read(ssl, room.baseAddress, Int32(clamping: room.count))
        if count > 0 {
            unproductive = 0
            return Int(count)
        }
        switch SSL_get_error(ssl, count) {
        case SSL_ERROR_WANT_READ: return 0
        case SSL_ERROR_ZERO_RETURN:
            isAtEnd = true
            return 0
        default:
            _ = OpenSSLErrors.drain()
            return nil
        }
    }

    /// Whether `open` may have more without new input.
    var hasPendingInput: Bool { SSL_has_pending(ssl) == 1 || BIO_ctrl_pending(incoming) > 0 }

    /// Encrypts an answer.
    func seal(_ octets: [UInt8]) -> Bool {
        OpenSSLErrors.forgetOthers()
        // Memory takes all of it at once.
        guard SSL_write(ssl, octets, Int32(clamping: octets.count)) == octets.count else {
            _ = OpenSSLErrors.drain()
            return false
        }
        return true
    }

    var hasOutput: Bool { BIO_ctrl_pending(outgoing) > 0 }

    /// Appends what is to be sent to the peer.
    func takeOutput(into wire: inout [UInt8]) {
        var start: UnsafeMutablePointer<CChar>?
        let count = Int(copenssl_BIO_get_mem_data(outgoing, &start))
        guard count > 0, let start else { return }
        wire.append(contentsOf: UnsafeRawBufferPointer(start: start, count: count))
        BIO_ctrl(outgoing, BIO_CTRL_RESET, 0, nil)
    }

    /// Says goodbye, so that the peer can tell the end from a cut.
    func shutDown() {
        guard !isHandshaking else { return }
        OpenSSLErrors.forgetOthers()
        if SSL_shutdown(ssl) < 0 { _ = OpenSSLErrors.drain() }
    }
}
