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
        guard block.label != "TSS2 PRIVATE KEY" else { return .tpm(block.text) }
        let isEncrypted =
            block.label == "ENCRYPTED PRIVATE KEY"
            || block.text.firstRange(of: Array("Proc-Type: 4,ENCRYPTED".utf8)) != nil
        return .key(
            isEncrypted
                ? try decrypt(block.text, passphrase)
                : try KeyStore.privateKey(in: block.text, passphrase: nil))
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
        let decoded = bytes.withUnsafeBufferPointer { buffer -> (key: OpaquePointer?, rest: Int) in
            var cursor = buffer.baseAddress
            let key = d2i_AutoPrivateKey(nil, &cursor, buffer.count)
            let used = cursor.map { $0 - (buffer.baseAddress ?? $0) } ?? 0
            return (key, buffer.count - used)
        }
        guard let key = decoded.key else {
            let error = OpenSSLError.drain()
            if isEncryptedDER(bytes) { return try decrypt(bytes, passphrase) }
            throw isPublicDER(bytes) ? .noPrivateKey : .malformed(error)
        }
        guard decoded.rest == 0 else {
            EVP_PKEY_free(key)
            throw .severalPrivateKeys
        }
        return key
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
