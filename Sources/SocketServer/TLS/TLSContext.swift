internal import COpenSSL

/// A TLS identity and the rules of its handshakes: TLS 1.2 and 1.3, forward secrecy and AEAD only (RFC 9325 §4.2).
///
/// Sendable: nothing changes an `SSL_CTX` after `init`, and OpenSSL locks what its sessions share.
final class TLSContext: @unchecked Sendable {
    let context: OpaquePointer
    let authorities: ClientAuthorities?
    let ticketKeys: TicketKeys
    /// Seconds since 1970 UTC.
    let now: @Sendable () -> Int64
    /// The server certificate's last second, in seconds since 1970 UTC.
    let notAfter: Int64

    private static let tls13Suites =
        "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    private static let tls12Suites =
        "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
        + "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
        + "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
    private static let groups = "X25519:P-256:P-384"
    private static let signatureAlgorithms =
        "ed25519:ECDSA+SHA256:ECDSA+SHA384:RSA-PSS+SHA256:RSA-PSS+SHA384:RSA-PSS+SHA512:"
        + "RSA+SHA256:RSA+SHA384:RSA+SHA512"

    /// Reads every file of `configuration` and finds them good together.
    init(_ configuration: TLSConfiguration) throws(ServerError) {
        let identity = try ServerIdentity(configuration)
        authorities = try ClientAuthorities.read(configuration)
        guard let context = SSL_CTX_new(TLS_server_method()) else {
            throw .tlsSetup(reason: OpenSSLErrors.drain())
        }
        self.context = context
        now = configuration.now
        notAfter = identity.notAfter
        ticketKeys = TicketKeys(now: configuration.now)
        try setRules()
        try identity.apply(to: context, configuration)
        try setClientRules()
        try setTicketRules()
    }

    deinit { SSL_CTX_free(context) }

    /// A server's side of one new connection.
    func makeSession() -> TLSSession? {
        SSL_new(context).flatMap { TLSSession($0, of: self) }
    }

    /// Everything is said here, so that nothing depends on the machine's `openssl.cnf`.
    private func setRules() throws(ServerError) {
        SSL_CTX_set_security_level(context, 2)
        guard copenssl_SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1,
            copenssl_SSL_CTX_set_max_proto_version(context, 0) == 1,
            SSL_CTX_set_cipher_list(context, Self.tls12Suites) == 1,
            SSL_CTX_set_ciphersuites(context, Self.tls13Suites) == 1,
            copenssl_SSL_CTX_set1_groups_list(context, Self.groups) == 1,
            copenssl_SSL_CTX_set1_sigalgs_list(context, Self.signatureAlgorithms) == 1
        else { throw .tlsSetup(reason: OpenSSLErrors.drain()) }
        copenssl_SSL_CTX_set_server_options(context)
        // The chain is what the file holds: none is put together from the authorities of clients.
        _ = copenssl_SSL_CTX_set_mode(
            context, Int(SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN))
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, chosen, chosenLength, offered, offeredLength, _ in
                TLSContext.selectHTTP11(chosen, chosenLength, offered, offeredLength)
            }, nil)
    }

    /// A client that names protocols but not ours has come to the wrong door (RFC 7301 §3.2).
    private static func selectHTTP11(
        _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
        _ chosenLength: UnsafeMutablePointer<UInt8>?,
        _ offered: UnsafePointer<UInt8>?, _ offeredLength: UInt32
    ) -> Int32 {
        let names = UnsafeBufferPointer(start: offered, count: Int(offeredLength))
        var index = 0
        while index < names.count {
            let length = Int(names[index])
            let name = names[min(index + 1, names.count)..<min(index + 1 + length, names.count)]
            if name.elementsEqual("http/1.1".utf8) {
                chosen?.pointee = offered.map { $0 + index + 1 }
                chosenLength?.pointee = UInt8(length)
                return SSL_TLSEXT_ERR_OK
            }
            index += 1 + length
        }
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }
}
