internal import COpenSSL

/// AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce in front and the 128-bit tag behind.
public enum AESGCM {
    /// Why a sealed text could not be made or opened.
    public enum Failure: Error, Equatable, Sendable {
        /// The key is not 32 octets.
        case keyLength
        /// Too short, altered, sealed under another key or for other associated data.
        case notAuthentic
        /// OpenSSL refused.
        case openSSL(OpenSSLError)
    }

    /// `nonce ‖ ciphertext ‖ tag` of `plaintext`.
    ///
    /// - Parameters:
    ///   - key: 32 octets.
    ///   - associatedData: authenticated with the text but not part of the result.
    public static func seal(
        _ plaintext: [UInt8], key: [UInt8], associatedData: [UInt8]
    ) throws(Failure) -> [UInt8] {
        guard key.count == 32 else { throw .keyLength }
        let nonce: [UInt8]
        do { nonce = try SecureRandom.bytes(nonceLength) } catch { throw .openSSL(error) }
        let context = try CipherContext()
        var tag = [UInt8](repeating: 0, count: tagLength)
        var ciphertext = [UInt8](repeating: 0, count: plaintext.count)
        var length: Int32 = 0
        guard EVP_EncryptInit_ex2(context.pointer, Algorithms.aes256GCM, key, nonce, nil) == 1,
            EVP_EncryptUpdate(
                context.pointer, nil, &length, associatedData, Int32(associatedData.count)) == 1,
            EVP_EncryptUpdate(
                context.pointer, &ciphertext, &length, plaintext, Int32(plaintext.count)) == 1,
            EVP_EncryptFinal_ex(context.pointer, nil, &length) == 1,
            EVP_CIPHER_CTX_ctrl(context.pointer, EVP_CTRL_AEAD_GET_TAG, Int32(tagLength), &tag) == 1
        else { throw .openSSL(OpenSSLError.drain()) }
        return nonce + ciphertext + tag
    }

    /// The plaintext of what `seal` made with the same key and associated data.
    public static func open(
        _ sealed: [UInt8], key: [UInt8], associatedData: [UInt8]
    ) throws(Failure) -> [UInt8] {
        guard key.count == 32 else { throw .keyLength }
        guard sealed.count >= nonceLength + tagLength else { throw .notAuthentic }
        let nonce = Array(sealed.prefix(nonceLength))
        let ciphertext = Array(sealed.dropFirst(nonceLength).dropLast(tagLength))
        var tag = Array(sealed.suffix(tagLength))
        let context = try CipherContext()
        var plaintext = [UInt8](repeating: 0, count: ciphertext.count)
        var length: Int32 = 0
        guard EVP_DecryptInit_ex2(context.pointer, Algorithms.aes256GCM, key, nonce, nil) == 1,
            EVP_DecryptUpdate(
                context.pointer, nil, &length, associatedData, Int32(associatedData.count)) == 1,
            EVP_DecryptUpdate(
                context.pointer, &plaintext, &length, ciphertext, Int32(ciphertext.count)) == 1,
            EVP_CIPHER_CTX_ctrl(context.pointer, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), &tag) == 1
        else { throw .openSSL(OpenSSLError.drain()) }
        guard EVP_DecryptFinal_ex(context.pointer, nil, &length) == 1 else {
            wipe(&plaintext)
            _ = OpenSSLError.drain()
            throw .notAuthentic
        }
        return plaintext
    }

    private static let nonceLength = 12
    private static let tagLength = 16
}

/// Owns one cipher context.
private struct CipherContext: ~Copyable {
    let pointer: OpaquePointer

    init() throws(AESGCM.Failure) {
        guard let pointer = EVP_CIPHER_CTX_new() else { throw .openSSL(OpenSSLError.drain()) }
        self.pointer = pointer
    }

    deinit { EVP_CIPHER_CTX_free(pointer) }
}
