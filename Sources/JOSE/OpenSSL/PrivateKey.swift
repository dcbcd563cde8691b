internal import COpenSSL

/// A private key for ES256 or PS256, owned for as long as this object lives: in this process's memory, or in a device that
/// signs for it.
public final class PrivateKey: Sendable {
    /// The only algorithm this key signs with.
    public let algorithm: JWSAlgorithm
    /// Its public half, without a key id.
    public let publicJWK: PublicJWK
    private let holder: Holder

    private enum Holder {
        case memory(MemoryKey)
        case device(any DeviceKey)
    }

    /// Takes over `pkey`, freeing it on failure too, after checking that it may be used and that it works.
    init(adopting pkey: OpaquePointer) throws(KeyError) {
        let key = try MemoryKey(adopting: pkey)
        holder = .memory(key)
        publicJWK = key.publicJWK
        algorithm = publicJWK.algorithm
        try checkPair()
    }

    /// Takes a key in a device, after checking that it works.
    init(holding key: any DeviceKey) throws(KeyError) {
        holder = .device(key)
        publicJWK = key.publicJWK
        algorithm = publicJWK.algorithm
        try checkPair()
    }

    /// The device that signs, for keys that are in one: a signature may then take as long as the device likes, so it is
    /// never made on a thread that others wait for. `nil` for a key in this process's memory.
    public var device: String? {
        switch holder {
        case .memory: nil
        case .device(let key): key.device
        }
    }

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
        switch holder {
        case .memory(let key): try key.sign(input)
        case .device(let key): try key.sign(digest: SHA256.hash(input))
        }
    }

    /// An ES256 signature for input whose SHA-256 the caller has computed already, as secure hardware wants it: 64 octets
    /// `r ‖ s`.
    ///
    /// - Throws: `KeyError.wrongAlgorithm` for an RSA key, `.unusable` for a digest that is not 32 octets.
    public func sign(digest: [UInt8]) throws(KeyError) -> [UInt8] {
        guard algorithm == .ES256 else {
            throw .wrongAlgorithm(expected: .ES256, found: algorithm)
        }
        guard digest.count == SHA256.length else { throw .unusable }
        return switch holder {
        case .memory(let key): try key.sign(digest: digest)
        case .device(let key): try key.sign(digest: digest)
        }
    }

    /// The key as unencrypted PKCS #8 PEM, for a key file or a sealed store. The caller wipes it.
    ///
    /// - Throws: `KeyError.notExportable` for a key in a device.
    public func pkcs8PEM() throws(KeyError) -> [UInt8] {
        guard case .memory(let key) = holder else { throw .notExportable }
        return try key.pkcs8PEM()
    }

    /// A key whose halves do not belong together would sign what nobody can verify.
    private func checkPair() throws(KeyError) {
        let probe = Array("key check".utf8)
        guard let verifier = try? PublicKey(publicJWK),
            verifier.verifies(try sign(probe), over: probe)
        else { throw .unusable }
    }
}
