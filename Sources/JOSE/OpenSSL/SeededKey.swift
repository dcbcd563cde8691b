internal import COpenSSL

/// A private key that is made of a secret seed and nothing else: whoever keeps the seed keeps the key.
///
/// Sendable: nothing changes it after `init`, and OpenSSL lets threads share a key.
public final class SeededKey: @unchecked Sendable {
    /// What a key can be for.
    public enum Algorithm: String, Sendable, CaseIterable {
        /// ECDSA over a digest, and DHKEM with HKDF-SHA256 (RFC 9180 §4.1). The seed is the `ikm` of RFC 9180 §7.1.3.
        case p256 = "P-256"
        /// Signatures of FIPS 204. The seed is its ξ.
        case mlDSA65 = "ML-DSA-65"
        /// Key encapsulation of FIPS 203. The seed is its d ‖ z.
        case mlKEM768 = "ML-KEM-768"

        /// Octets of a seed.
        public var seedLength: Int { self == .mlKEM768 ? 64 : 32 }

        /// Whether the OpenSSL that runs here has it: ML-DSA and ML-KEM came with 3.5.
        public var isAvailable: Bool {
            // Asked by name at run time, since this is built against headers that know neither.
            switch self {
            case .p256: return true
            case .mlDSA65:
                let found = EVP_SIGNATURE_fetch(nil, rawValue, nil)
                defer { EVP_SIGNATURE_free(found) }
                return isThere(found)
            case .mlKEM768:
                let found = EVP_KEM_fetch(nil, rawValue, nil)
                defer { EVP_KEM_free(found) }
                return isThere(found)
            }
        }

        private func isThere(_ found: OpaquePointer?) -> Bool {
            if found == nil { _ = OpenSSLError.drain() }
            return found != nil
        }
    }

    /// What the key is for.
    public let algorithm: Algorithm
    private let pkey: OpaquePointer

    /// - Parameter seed: `algorithm.seedLength` uniform octets.
    /// - Throws: `KeyError.unsupportedType` where this OpenSSL lacks the algorithm, `.unusable` for a seed of another length.
    public init(_ algorithm: Algorithm, seed: [UInt8]) throws(KeyError) {
        guard seed.count == algorithm.seedLength else { throw .unusable }
        guard algorithm.isAvailable else { throw .unsupportedType(algorithm.rawValue) }
        let made =
            algorithm == .p256
            ? Self.p256(seed) : copenssl_EVP_PKEY_from_seed(algorithm.rawValue, seed, seed.count)
        guard let made else { throw .openSSL(OpenSSLError.drain()) }
        pkey = made
        self.algorithm = algorithm
    }

    deinit { EVP_PKEY_free(pkey) }

    /// The public half as a DER `SubjectPublicKeyInfo` (RFC 5280 §4.1.2.7; RFC 5480, RFC 9881, RFC 9935).
    public func publicKeyInfo() throws(KeyError) -> [UInt8] {
        let length = Int(i2d_PUBKEY(pkey, nil))
        guard length > 0 else { throw .openSSL(OpenSSLError.drain()) }
        var written = 0
        let octets = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            var end = buffer.baseAddress
            written = Int(i2d_PUBKEY(pkey, &end))
            count = written == length ? length : 0
        }
        guard written == length else { throw .openSSL(OpenSSLError.drain()) }
        return octets
    }

    /// An ECDSA signature over a digest, 64 octets `r ‖ s`; of a longer digest the first 32 octets count (FIPS 186-5 §6.4.1).
    ///
    /// - Throws: `KeyError.unsupportedType` for a key that is not on P-256.
    public func sign(digest: [UInt8]) throws(KeyError) -> [UInt8] {
        guard algorithm == .p256 else { throw .unsupportedType(algorithm.rawValue) }
        return try MemoryKey.sign(digest: digest, by: pkey)
    }

    /// An ML-DSA signature over a message (FIPS 204 §5.2).
    ///
    /// - Parameter context: 255 octets at most; the verifier must name the same.
    /// - Throws: `KeyError.unsupportedType` for a key of another algorithm.
    public func sign(message: [UInt8], context: [UInt8]) throws(KeyError) -> [UInt8] {
        guard algorithm == .mlDSA65 else { throw .unsupportedType(algorithm.rawValue) }
        var signature = [UInt8](repeating: 0, count: 3309)
        var length = signature.count
        let made = copenssl_EVP_DigestSign_with_context(
            pkey, context, context.count, &signature, &length, message, message.count)
        guard made == 1, length == signature.count else { throw .openSSL(OpenSSLError.drain()) }
        return signature
    }

    /// The 32 octets that a sender encapsulated for this key. The caller wipes them.
    ///
    /// - Parameter ciphertext: for P-256 an uncompressed point of 65 octets, for ML-KEM-768 its 1088 octets. ML-KEM gives
    ///   octets nobody can foretell for a ciphertext that was tampered with (FIPS 203 §6.3).
    /// - Throws: `KeyError.unsupportedType` for a key that only signs, `.openSSL` for what is no ciphertext.
    public func decapsulate(_ ciphertext: [UInt8]) throws(KeyError) -> [UInt8] {
        switch algorithm {
        case .p256: return try agree(ciphertext)
        case .mlDSA65: throw .unsupportedType(algorithm.rawValue)
        case .mlKEM768:
            let context = EVP_PKEY_CTX_new_from_pkey(nil, pkey, nil)
            defer { EVP_PKEY_CTX_free(context) }
            var secret = [UInt8](repeating: 0, count: 32)
            var length = secret.count
            guard EVP_PKEY_decapsulate_init(context, nil) == 1,
                EVP_PKEY_decapsulate(context, &secret, &length, ciphertext, ciphertext.count) == 1,
                length == secret.count
            else { throw .openSSL(OpenSSLError.drain()) }
            return secret
        }
    }

    // MARK: - P-256

    private static func p256(_ seed: [UInt8]) -> OpaquePointer? {
        guard var scalar = DHKEM.secretKey(from: seed) else { return nil }
        defer { wipe(&scalar) }
        // ECPrivateKey of RFC 5915 with the curve and without the point, which OpenSSL then computes.
        var der: [UInt8] = [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20]
        der += scalar
        der += [0xa0, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]
        defer { wipe(&der) }
        return der.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return d2i_PrivateKey(EVP_PKEY_EC, nil, &start, buffer.count)
        }
    }

    private func agree(_ encapsulated: [UInt8]) throws(KeyError) -> [UInt8] {
        guard encapsulated.count == DHKEM.encapsulatedLength, encapsulated.first == 0x04 else {
            throw .openSSL(OpenSSLError(reasons: ["not an uncompressed point"]))
        }
        guard let template = P256.template, let sender = EVP_PKEY_new() else {
            throw .openSSL(OpenSSLError.drain())
        }
        defer { EVP_PKEY_free(sender) }
        let context = EVP_PKEY_CTX_new_from_pkey(nil, pkey, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var agreed = [UInt8](repeating: 0, count: DHKEM.secretLength)
        defer { wipe(&agreed) }
        var length = agreed.count
        guard EVP_PKEY_copy_parameters(sender, template) == 1,
            // Refuses what is not on the curve, so that no answer depends on the key alone.
            EVP_PKEY_set1_encoded_public_key(sender, encapsulated, encapsulated.count) == 1,
            EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, sender) == 1,
            EVP_PKEY_derive(context, &agreed, &length) == 1, length == agreed.count
        else { throw .openSSL(OpenSSLError.drain()) }
        return DHKEM.sharedSecret(
            agreed: agreed, encapsulated: encapsulated, recipient: try point())
    }

    /// The public half, uncompressed.
    private func point() throws(KeyError) -> [UInt8] {
        var text: UnsafeMutablePointer<UInt8>?
        let length = EVP_PKEY_get1_encoded_public_key(pkey, &text)
        defer { copenssl_OPENSSL_free(text) }
        guard let text, length == DHKEM.encapsulatedLength else {
            throw .openSSL(OpenSSLError.drain())
        }
        return Array(UnsafeBufferPointer(start: text, count: length))
    }
}
