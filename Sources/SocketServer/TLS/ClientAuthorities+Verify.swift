internal import COpenSSL

extension ClientAuthorities {
    enum Verdict {
        /// - until: the last second of what it rests on, in seconds since 1970 UTC.
        case good(ClientCertificate, until: Int64)
        /// OpenSSL's reason.
        case bad(reason: String)
    }

    /// Judges a certificate that came by another way than a handshake.
    /// - Parameters:
    ///   - chain: what came along; none of it is trusted.
    ///   - now: seconds since 1970 UTC.
    func verify(_ certificate: Certificate, with chain: [Certificate], now: Int64) -> Verdict {
        let outOfMemory = Verdict.bad(reason: "out of memory")
        guard let context = X509_STORE_CTX_new() else { return outOfMemory }
        defer { X509_STORE_CTX_free(context) }
        // The stack only points at the certificates, which `chain` keeps.
        guard let stack = OPENSSL_sk_new_null() else { return outOfMemory }
        defer { OPENSSL_sk_free(stack) }
        for certificate in chain {
            guard OPENSSL_sk_push(stack, UnsafeRawPointer(certificate.pointer)) > 0 else {
                return outOfMemory
            }
        }
        return withExtendedLifetime((certificate, chain)) {
            defer { ERR_clear_error() }
            guard X509_STORE_CTX_init(context, store, certificate.pointer, stack) == 1,
                X509_STORE_CTX_set_default(context, "ssl_client") == 1
            else { return outOfMemory }
            guard ClientVerification.run(context, now: now),
                let client = ClientCertificate(certificate.pointer)
            else {
                let error = Int(X509_STORE_CTX_get_error(context))
                return .bad(reason: String(cString: X509_verify_cert_error_string(error)))
            }
            let end = ClientVerification.notAfter(X509_STORE_CTX_get0_chain(context)) ?? .min
            return .good(client, until: min(end, revocationNotAfter ?? end))
        }
    }
}
