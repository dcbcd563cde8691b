internal import COpenSSL
internal import Glibc

/// A TLS identity and the rules of its handshakes: TLS 1.2 and 1.3, forward secrecy and AEAD only (RFC 9325 §4.2).
///
/// Sendable: nothing changes an `SSL_CTX` after `init`, and OpenSSL locks what its sessions share.
final class TLSContext: @unchecked Sendable {
    private let context: OpaquePointer

    private static let tls12Suites =
        "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
        + "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
        + "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"

    init(_ configuration: TLSConfiguration) throws(ServerError) {
        guard let context = SSL_CTX_new(TLS_server_method()) else {
            throw .tlsSetup(reason: OpenSSLErrors.drain())
        }
        self.context = context
        try setRules()
        try load(configuration)
    }

    deinit { SSL_CTX_free(context) }

    /// A server's side of one new connection.
    func makeSession() -> TLSSession? {
        SSL_new(context).flatMap(TLSSession.init)
    }

    private func setRules() throws(ServerError) {
        guard copenssl_SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1,
            SSL_CTX_set_cipher_list(context, Self.tls12Suites) == 1
        else { throw .tlsSetup(reason: OpenSSLErrors.drain()) }
        copenssl_SSL_CTX_set_server_options(context)
        _ = copenssl_SSL_CTX_set_mode(context, Int(SSL_MODE_RELEASE_BUFFERS))
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

    private func load(_ configuration: TLSConfiguration) throws(ServerError) {
        let (chain, key) = (configuration.certificateChainFile, configuration.privateKeyFile)
        // Without a callback OpenSSL would ask for a passphrase on the terminal.
        SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in -1 }
        guard SSL_CTX_use_certificate_chain_file(context, chain) == 1 else {
            throw .unusableTLSFile(path: chain, reason: OpenSSLErrors.drain())
        }
        try Self.checkPrivate(key)
        guard SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1,
            SSL_CTX_check_private_key(context) == 1
        else { throw .unusableTLSFile(path: key, reason: OpenSSLErrors.drain()) }
    }

    private static func checkPrivate(_ path: String) throws(ServerError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw .unusableTLSFile(path: path, reason: errorText(errno))
        }
        guard status.st_mode & 0o077 == 0 else {
            throw .unusableTLSFile(
                path: path, reason: "a private key must not be accessible by group or others")
        }
    }
}
