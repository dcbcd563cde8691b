internal import COpenSSL

extension PrivateKey {
    /// An ES256 signature for input whose SHA-256 the caller has computed already, as secure hardware wants it: 64 octets
    /// `r ‖ s`.
    ///
    /// - Throws: `KeyError.wrongAlgorithm` for an RSA key, `.unusable` for a digest that is not 32 octets.
    public func sign(digest: [UInt8]) throws(KeyError) -> [UInt8] {
        guard algorithm == .ES256 else {
            throw .wrongAlgorithm(expected: .ES256, found: algorithm)
        }
        guard digest.count == SHA256.length else { throw .unusable }
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, pkey, nil) else {
            throw .openSSL(OpenSSLError.drain())
        }
        defer { EVP_PKEY_CTX_free(context) }
        var der = [UInt8](repeating: 0, count: 80)
        var length = der.count
        guard EVP_PKEY_sign_init(context) == 1,
            EVP_PKEY_sign(context, &der, &length, digest, digest.count) == 1,
            let octets = der.withUnsafeBufferPointer({ buffer in
                ECDSASignature.jose(fromDER: UnsafeBufferPointer(rebasing: buffer[..<length]))
            })
        else { throw .openSSL(OpenSSLError.drain()) }
        return octets
    }
}
