import COpenSSL

@testable import SocketServer

/// A blocking TLS 1.3 client that can do what no ordinary one does. It takes any certificate.
final class TLSRawClient {
    private let client: RawClient
    private let ssl: OpaquePointer
    /// Owned by `ssl`.
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    private var plaintext: [UInt8] = []

    /// Connects and completes the handshake.
    init(port: UInt16) throws {
        client = try RawClient(port: port)
        guard let context = SSL_CTX_new(TLS_client_method()) else {
            throw ClientError(text: "SSL_CTX_new")
        }
        defer { SSL_CTX_free(context) }
        guard copenssl_SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1,
            let ssl = SSL_new(context), let incoming = BIO_new(BIO_s_mem()),
            let outgoing = BIO_new(BIO_s_mem())
        else { throw ClientError(text: "SSL_new") }
        BIO_ctrl(incoming, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
        BIO_ctrl(outgoing, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
        SSL_set_bio(ssl, incoming, outgoing)
        SSL_set_connect_state(ssl)
        (self.ssl, self.incoming, self.outgoing) = (ssl, incoming, outgoing)
        while SSL_do_handshake(ssl) != 1 {
            flush()
            guard receive() else { throw ClientError(text: "no handshake") }
        }
        flush()
    }

    deinit { SSL_free(ssl) }

    /// Changes the keys it sends with so many times (RFC 8446 §4.6.3): a record of 27 octets each, without plaintext.
    /// - Parameter asksInReturn: whether the server is to change its keys as often.
    func renewKeys(_ count: Int, asksInReturn: Bool) throws {
        let kind = asksInReturn ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED
        for _ in 0..<count {
            guard SSL_key_update(ssl, kind) == 1, SSL_do_handshake(ssl) == 1 else {
                throw ClientError(text: "no key update")
            }
        }
        flush()
    }

    func send(_ text: String) {
        SSL_write(ssl, text, Int32(text.utf8.count))
        flush()
    }

    /// The next answer; `nil` when the server ends the connection instead.
    func readAnswer() -> Answer? {
        while true {
            if let answer = Answer.take(from: &plaintext, isHead: false) { return answer }
            var room = [UInt8](repeating: 0, count: 16 * 1024)
            let count = SSL_read(ssl, &room, Int32(room.count))
            if count > 0 {
                plaintext += room[..<Int(count)]
            } else if SSL_get_error(ssl, count) != SSL_ERROR_WANT_READ || !receive() {
                return nil
            }
        }
    }

    private func flush() {
        var start: UnsafeMutablePointer<CChar>?
        let count = Int(copenssl_BIO_get_mem_data(outgoing, &start))
        guard count > 0, let start else { return }
        let octets = Array(UnsafeRawBufferPointer(start: start, count: count))
        BIO_ctrl(outgoing, BIO_CTRL_RESET, 0, nil)
        client.send(octets)
    }

    /// - Returns: whether something came.
    private func receive() -> Bool {
        guard let octets = client.receive() else { return false }
        return BIO_write(incoming, octets, Int32(octets.count)) == octets.count
    }
}
