internal import COpenSSL

/// The certificate a server shows, its issuers, and its private key, read from their files and found to fit together.
struct ServerIdentity {
    let chain: [Certificate]
    let key: PrivateKey
    /// The certificate's last second, in seconds since 1970 UTC.
    let notAfter: Int64

    private static let longestChain = 10

    init(_ configuration: TLSConfiguration) throws(ServerError) {
        let file = try TLSFile(configuration.certificateChainFile)
        do {
            chain = try PEM.certificates(in: file.octets, atMost: Self.longestChain)
        } catch {
            throw file.unusable(error.reason)
        }
        guard let certificate = chain.first else { throw file.unusable("holds no certificate") }
        guard let notAfter = certificate.notAfter else {
            throw file.unusable("the certificate's end cannot be read")
        }
        self.notAfter = notAfter
        for (index, certificate) in chain.enumerated() where !certificate.hasStrongKey {
            throw file.unusable(
                "the key of certificate \(index + 1) is too weak: RSA needs 2048 bits, EC 256")
        }
        key = try Self.readKey(configuration.privateKeyFile, of: certificate, in: file.path)
    }

    /// Makes it what `context` shows.
    func apply(
        to context: OpaquePointer, _ configuration: TLSConfiguration
    ) throws(ServerError) {
        func unusable(_ path: String) -> ServerError {
            .unusableTLSFile(path: path, reason: OpenSSLErrors.drain())
        }
        for (index, certificate) in chain.enumerated() {
            // Refuses a weak key or signature as well (security level 2).
            guard index > 0 || SSL_CTX_use_certificate(context, certificate.pointer) == 1 else {
                throw unusable(configuration.certificateChainFile)
            }
            guard index > 0 else { continue }
            X509_up_ref(certificate.pointer)
            guard copenssl_SSL_CTX_add0_chain_cert(context, certificate.pointer) == 1 else {
                X509_free(certificate.pointer)
                throw unusable(configuration.certificateChainFile)
            }
        }
        guard SSL_CTX_use_PrivateKey(context, key.pointer) == 1 else {
            throw unusable(configuration.privateKeyFile)
        }
    }

    private static func readKey(
        _ path: String, of certificate: Certificate, in chain: String
    ) throws(ServerError) -> PrivateKey {
        let file = try TLSFile(path, isSecret: true)
        let key: PrivateKey
        do {
            key = try PEM.privateKey(in: file.octets)
        } catch {
            throw file.unusable(error.reason)
        }
        guard X509_check_private_key(certificate.pointer, key.pointer) == 1 else {
            ERR_clear_error()
            throw file.unusable("not the key of the first certificate in \(chain)")
        }
        return key
    }
}
