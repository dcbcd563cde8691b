internal import COpenSSL

/// The octets of a key file as one private key: PEM in any usual spelling, or DER.
enum KeyText {
    enum Decoded {
        /// In this process's memory.
        case key(OpaquePointer)
        /// A TPM's: the text is wrapped by the TPM and worth nothing elsewhere. PEM.
        case tpm([UInt8])
    }

    /// - Parameter passphrase: is asked for only when the key is encrypted.
    static func decode(
        _ bytes: [UInt8], _ passphrase: () throws(KeyError) -> [UInt8]?
    ) throws(KeyError) -> Decoded {
        guard bytes.contains(where: { !$0.isBlank }) else { throw .empty }
        return PEMText.looksLikePEM(bytes)
            ? try decodePEM(bytes, passphrase) : .key(try decodeDER(bytes, passphrase))
    }

    private static func decodePEM(
        _ bytes: [UInt8], _ passphrase: () throws(KeyError) -> [UInt8]?
    ) throws(KeyError) -> Decoded {
        let pem = PEMText(bytes)
        let keys = pem.blocks.filter { $0.label.hasSuffix("PRIVATE KEY") }
        guard keys.count <= 1 else { throw .severalPrivateKeys }
        guard let block = keys.first else {
            throw pem.isCut ? .malformed(OpenSSLError(reasons: ["no END line"])) : .noPrivateKey
        }
        guard !pem.isCut else {
            throw .malformed(OpenSSLError(reasons: ["a block without its END line"]))
        }
        guard block.label != "TSS2 PRIVATE KEY" else { return .tpm(block.text(in: bytes)) }
        let isEncrypted =
            block.label == "ENCRYPTED PRIVATE KEY"
            || block.hasLine(startingWith: "Proc-Type: 4,ENCRYPTED", in: bytes)
        if !isEncrypted, let types = plainTypes[block.label] {
            return .key(try decodePlain(block, in: bytes, types))
        }
        var text = block.text(in: bytes)
        defer { wipe(&text) }
        return .key(
            isEncrypted
                ? try decrypt(text, passphrase)
                : try KeyStore.privateKey(in: text, passphrase: nil))
    }

    /// The labels of keys that nothing protects, with the types of key that may stand under them; empty for any.
    private static let plainTypes: [String: [Int32]] = [
        "PRIVATE KEY": [], "EC PRIVATE KEY": [EVP_PKEY_EC],
        "RSA PRIVATE KEY": [EVP_PKEY_RSA, EVP_PKEY_RSA_PSS],
    ]

    /// Without OpenSSL's own reading of PEM, which leaves copies of the key in memory that it gave back.
    private static func decodePlain(
        _ block: PEMText.Block, in bytes: [UInt8], _ types: [Int32]
    ) throws(KeyError) -> OpaquePointer {
        guard var der = block.decoded(in: bytes) else {
            throw .malformed(OpenSSLError(reasons: ["bad base64"]))
        }
        defer { wipe(&der) }
        let (decoded, rest) = readDER(der)
        guard let key = decoded else { throw .malformed(OpenSSLError.drain()) }
        guard rest == 0 else {
            EVP_PKEY_free(key)
            throw .severalPrivateKeys
        }
        guard types.isEmpty || types.contains(EVP_PKEY_get_base_id(key)) else {
            EVP_PKEY_free(key)
            throw .malformed(OpenSSLError(reasons: ["a key of another type than its label"]))
        }
        return key
    }

    private static func decrypt(
        _ bytes: [UInt8], _ passphrase: () throws(KeyError) -> [UInt8]?
    ) throws(KeyError) -> OpaquePointer {
        guard var phrase = try passphrase() else { throw .encrypted }
        defer { wipe(&phrase) }
        return try KeyStore.privateKey(in: bytes, passphrase: phrase)
    }

    private static func decodeDER(
        _ bytes: [UInt8], _ passphrase: () throws(KeyError) -> [UInt8]?
    ) throws(KeyError) -> OpaquePointer {
        let (decoded, rest) = readDER(bytes)
        guard let key = decoded else {
            let error = OpenSSLError.drain()
            if isEncryptedDER(bytes) { return try decrypt(bytes, passphrase) }
            throw isPublicDER(bytes) ? .noPrivateKey : .malformed(error)
        }
        guard rest == 0 else {
            EVP_PKEY_free(key)
            throw .severalPrivateKeys
        }
        return key
    }

    /// The key that `der` begins with, in any unencrypted structure, and how many octets are behind it.
    private static func readDER(_ der: [UInt8]) -> (key: OpaquePointer?, rest: Int) {
        der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            let key = d2i_AutoPrivateKey(nil, &cursor, buffer.count)
            // What OpenSSL tried before it found the right structure is no fault.
            if key != nil { _ = OpenSSLError.drain() }
            let used = cursor.map { $0 - (buffer.baseAddress ?? $0) } ?? 0
            return (key, buffer.count - used)
        }
    }

    /// One `EncryptedPrivateKeyInfo` (RFC 5958 §3) and nothing behind it.
    private static func isEncryptedDER(_ bytes: [UInt8]) -> Bool {
        let isOne = bytes.withUnsafeBufferPointer { buffer -> Bool in
            var cursor = buffer.baseAddress
            guard let info = d2i_X509_SIG(nil, &cursor, buffer.count) else { return false }
            X509_SIG_free(info)
            return cursor == buffer.baseAddress.map { $0 + buffer.count }
        }
        _ = OpenSSLError.drain()
        return isOne
    }

    private static func isPublicDER(_ bytes: [UInt8]) -> Bool {
        let isPublic = bytes.withUnsafeBufferPointer { buffer -> Bool in
            var cursor = buffer.baseAddress
            if let key = d2i_PUBKEY(nil, &cursor, buffer.count) {
                EVP_PKEY_free(key)
                return true
            }
            cursor = buffer.baseAddress
            guard let certificate = d2i_X509(nil, &cursor, buffer.count) else { return false }
            X509_free(certificate)
            return true
        }
        _ = OpenSSLError.drain()
        return isPublic
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == 0x20 || (self >= 0x09 && self <= 0x0d) }
}
