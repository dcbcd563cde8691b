internal import COpenSSL

/// Owns one `EVP_MD_CTX`, prepared for signing or verifying.
struct DigestContext: ~Copyable {
    let pointer: OpaquePointer

    /// An unused context.
    init() throws(OpenSSLError) {
        guard let pointer = EVP_MD_CTX_new() else { throw OpenSSLError.drain() }
        self.pointer = pointer
    }

    /// A copy of a prepared context: several times cheaper than preparing another one.
    borrowing func copy() throws(OpenSSLError) -> DigestContext {
        let context = try DigestContext()
        guard EVP_MD_CTX_copy_ex(context.pointer, pointer) == 1 else { throw OpenSSLError.drain() }
        return context
    }

    /// Prepares for signatures of `algorithm` by `key`.
    static func signing(
        _ key: OpaquePointer, _ algorithm: JWSAlgorithm
    ) throws(OpenSSLError) -> DigestContext {
        let context = try DigestContext()
        var keyContext: OpaquePointer?
        guard EVP_DigestSignInit(context.pointer, &keyContext, Algorithms.sha256, nil, key) == 1
        else {
            throw OpenSSLError.drain()
        }
        try setPadding(keyContext, algorithm)
        return context
    }

    /// Prepares for checking signatures of `algorithm` by `key`.
    static func verifying(
        _ key: OpaquePointer, _ algorithm: JWSAlgorithm
    ) throws(OpenSSLError) -> DigestContext {
        let context = try DigestContext()
        var keyContext: OpaquePointer?
        guard EVP_DigestVerifyInit(context.pointer, &keyContext, Algorithms.sha256, nil, key) == 1
        else {
            throw OpenSSLError.drain()
        }
        try setPadding(keyContext, algorithm)
        return context
    }

    deinit { EVP_MD_CTX_free(pointer) }

    /// PS256 is PSS with SHA-256 in both places and exactly 32 octets of salt (RFC 7518 §3.5); OpenSSL's own
    /// defaults are PKCS #1 v1.5 and, on checking, any salt.
    private static func setPadding(
        _ keyContext: OpaquePointer?, _ algorithm: JWSAlgorithm
    ) throws(OpenSSLError) {
        guard algorithm == .PS256 else { return }
        guard EVP_PKEY_CTX_set_rsa_padding(keyContext, RSA_PKCS1_PSS_PADDING) == 1,
            EVP_PKEY_CTX_set_rsa_pss_saltlen(keyContext, 32) == 1,
            EVP_PKEY_CTX_set_rsa_mgf1_md(keyContext, Algorithms.sha256) == 1
        else { throw OpenSSLError.drain() }
    }
}
