internal import COpenSSL

/// The one judgement of a client's certificate, whether it came in a handshake or in a trusted proxy's field.
enum ClientVerification {
    /// - Parameters:
    ///   - context: an `X509_STORE_CTX` with the certificate, what its client sent along, and purpose `sslclient`.
    ///   - now: seconds since 1970 UTC.
    /// - Returns: whether it is good; if not, the context's error says why.
    static func run(_ context: OpaquePointer, now: Int64) -> Bool {
        guard let parameters = X509_STORE_CTX_get0_param(context) else { return false }
        // Level 2: no SHA-1, no RSA below about 2048 bits, in any certificate that counts.
        X509_VERIFY_PARAM_set_auth_level(parameters, 2)
        X509_VERIFY_PARAM_set_time(parameters, time_t(now))
        X509_STORE_CTX_set_verify_cb(context) { isGood, context in
            guard isGood == 0, let context else { return isGood }
            return ClientVerification.isAnchorWithoutList(context) ? 1 : 0
        }
        guard X509_verify_cert(context) == 1 else { return false }
        guard let certificate = X509_STORE_CTX_get0_cert(context) else { return false }
        for (depth, certificate) in chain(X509_STORE_CTX_get0_chain(context)).enumerated() {
            guard KeyStrength.isEnough(X509_get0_pubkey(certificate)) else {
                X509_STORE_CTX_set_error(
                    context,
                    depth == 0 ? X509_V_ERR_EE_KEY_TOO_SMALL : X509_V_ERR_CA_KEY_TOO_SMALL)
                return false
            }
        }
        guard ClientCertificate(certificate) != nil else {
            X509_STORE_CTX_set_error(context, X509_V_ERR_UNSUPPORTED_NAME_SYNTAX)
            return false
        }
        X509_STORE_CTX_set_error(context, X509_V_OK)
        return true
    }

    /// When the first certificate of a chain ends, in seconds since 1970 UTC; `nil` for none.
    static func notAfter(_ stack: OpaquePointer?) -> Int64? {
        chain(stack).map { CertificateTime.seconds(X509_get0_notAfter($0)) ?? .min }.min()
    }

    /// The certificates of a `STACK_OF(X509)`, which keeps them.
    private static func chain(_ stack: OpaquePointer?) -> [OpaquePointer] {
        guard let stack else { return [] }
        return (0..<max(OPENSSL_sk_num(stack), 0)).compactMap { index in
            OPENSSL_sk_value(stack, index).map { OpaquePointer($0) }
        }
    }

    /// An authority is trusted because the operator's file names it: it needs no list of whoever is above it.
    private static func isAnchorWithoutList(_ context: OpaquePointer) -> Bool {
        let error = X509_STORE_CTX_get_error(context)
        guard error == X509_V_ERR_UNABLE_TO_GET_CRL || error == X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER
        else { return false }
        let depth = X509_STORE_CTX_get_error_depth(context)
        let count = X509_STORE_CTX_get0_chain(context).map { OPENSSL_sk_num($0) } ?? 0
        guard depth > 0, depth == count - 1 else { return false }
        X509_STORE_CTX_set_error(context, X509_V_OK)
        return true
    }
}
