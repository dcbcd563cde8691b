internal import COpenSSL

/// A private key in this process's memory.
///
/// Sendable: nothing changes it after `init`, and OpenSSL lets threads share a key and copy a prepared context.
final class MemoryKey: @unchecked Sendable {
    let publicJWK: PublicJWK
    private let pkey: OpaquePointer
    private let prepared: DigestContext

    /// Takes over `pkey`, freeing it on failure too, after checking that it may be used.
    init(adopting pkey: OpaquePointer) throws(KeyError) {
        do {
            let publicJWK = try KeyInspection.publicJWK(of: pkey)
            prepared = try Self.prepare(pkey, publicJWK.algorithm)
            self.publicJWK = publicJWK
        } catch {
            EVP_PKEY_free(pkey)
            throw error
        }
        self.pkey = pkey
    }

    deinit { EVP_PKEY_free(pkey) }

    /// The signature in the form a JWS carries.
    func sign(_ input: [UInt8]) throws(KeyError) -> [UInt8] {
        do {
            let context = try prepared.copy()
            return try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1100) {
                buffer throws(OpenSSLError) in
                var length = buffer.count
                guard
                    EVP_DigestSign(context.pointer, buffer.baseAddress, &length, input, input.count)
                        == 1
                else { throw OpenSSLError.drain() }
                let made = UnsafeBufferPointer(rebasing: UnsafeBufferPointer(buffer)[0..<length])
                guard publicJWK.algorithm == .ES256 else { return Array(made) }
                guard let octets = ECDSASignature.jose(fromDER: made) else {
                    throw OpenSSLError(reasons: ["a signature that is not DER"])
                }
                return octets
            }
        } catch {
            throw .openSSL(error)
        }
    }

    /// An ES256 signature over input with this SHA-256.
    func sign(digest: [UInt8]) throws(KeyError) -> [UInt8] {
        try Self.sign(digest: digest, by: pkey)
    }

    /// An ECDSA signature by a key on P-256, 64 octets `r ‖ s`.
    static func sign(digest: [UInt8], by pkey: OpaquePointer) throws(KeyError) -> [UInt8] {
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

    /// The key as unencrypted PKCS #8 PEM. The caller wipes it.
    func pkcs8PEM() throws(KeyError) -> [UInt8] {
        guard let bio = BIO_new(BIO_s_secmem()) else { throw .openSSL(OpenSSLError.drain()) }
        defer { BIO_free(bio) }
        guard PEM_write_bio_PKCS8PrivateKey(bio, pkey, nil, nil, 0, nil, nil) == 1 else {
            throw .openSSL(OpenSSLError.drain())
        }
        var text: UnsafeMutablePointer<CChar>?
        let length = Int(copenssl_BIO_get_mem_data(bio, &text))
        guard let text, length > 0 else { throw .openSSL(OpenSSLError.drain()) }
        return text.withMemoryRebound(to: UInt8.self, capacity: length) {
            Array(UnsafeBufferPointer(start: $0, count: length))
        }
    }

    private static func prepare(
        _ pkey: OpaquePointer, _ algorithm: JWSAlgorithm
    ) throws(KeyError) -> DigestContext {
        do { return try DigestContext.signing(pkey, algorithm) } catch { throw .openSSL(error) }
    }
}
