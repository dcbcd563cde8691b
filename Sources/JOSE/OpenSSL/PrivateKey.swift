internal import COpenSSL

/// A private key for ES256 or PS256, owned for as long as this object lives.
///
/// Sendable: nothing changes it after `init`, and OpenSSL lets threads share a key and copy a prepared context.
public final class PrivateKey: @unchecked Sendable {
    /// The only algorithm this key signs with.
    public let algorithm: JWSAlgorithm
    /// Its public half, without a key id.
    public let publicJWK: PublicJWK
    let pkey: OpaquePointer
    private let prepared: DigestContext

    /// Takes over `pkey`, freeing it on failure too, after checking that it may be used and that it works.
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
        algorithm = publicJWK.algorithm
        try checkPair()
    }

    deinit { EVP_PKEY_free(pkey) }

    /// A new key: P-256 for ES256, RSA of 2048 bits for PS256.
    public static func generate(_ algorithm: JWSAlgorithm) throws(KeyError) -> PrivateKey {
        let context = EVP_PKEY_CTX_new_from_name(nil, algorithm == .ES256 ? "EC" : "RSA", nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            algorithm == .ES256
                ? EVP_PKEY_CTX_set_group_name(context, P256.name) == 1
                : EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048) == 1,
            EVP_PKEY_generate(context, &key) == 1, let key
        else { throw .openSSL(OpenSSLError.drain()) }
        return try PrivateKey(adopting: key)
    }

    /// The signature over `input` in the form a JWS carries: 64 octets for ES256, the modulus's length for PS256.
    public func sign(_ input: [UInt8]) throws(KeyError) -> [UInt8] {
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
                guard algorithm == .ES256 else { return Array(made) }
                guard let octets = ECDSASignature.jose(fromDER: made) else {
                    throw OpenSSLError(reasons: ["a signature that is not DER"])
                }
                return octets
            }
        } catch {
            throw .openSSL(error)
        }
    }

    /// The key as unencrypted PKCS #8 PEM, for a key file or a sealed store. The caller wipes it.
    public func pkcs8PEM() throws(KeyError) -> [UInt8] {
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

    /// A key whose halves do not belong together would sign what nobody can verify.
    private func checkPair() throws(KeyError) {
        let probe = Array("key check".utf8)
        guard let verifier = try? PublicKey(publicJWK),
            verifier.verifies(try sign(probe), over: probe)
        else {
            throw .unusable
        }
    }
}
