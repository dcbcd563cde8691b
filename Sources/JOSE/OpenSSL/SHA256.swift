internal import COpenSSL

/// SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104), by OpenSSL.
public enum SHA256 {
    /// The digest's length in octets.
    public static let length = 32

    /// The 32-octet digest of `bytes`.
    public static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] {
        bytes.withContiguousStorageIfAvailable(hash)
            ?? Array(bytes).withUnsafeBufferPointer(hash)
    }

    private static func hash(_ input: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            var written: UInt32 = 0
            let done = EVP_Digest(
                input.baseAddress, input.count, buffer.baseAddress, &written, Algorithms.sha256,
                nil)
            // A digest fails only when memory is exhausted; a wrong digest must never be handed on.
            precondition(done == 1 && written == length, "SHA-256 failed")
            count = length
        }
    }

    /// The 32-octet authentication code of `bytes` under `key`.
    public static func authenticationCode(of bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            var written: UInt32 = 0
            let done = HMAC(
                Algorithms.sha256, key, Int32(key.count), bytes, bytes.count, buffer.baseAddress,
                &written)
            precondition(done != nil && written == length, "HMAC-SHA-256 failed")
            count = length
        }
    }
}

/// Algorithms fetched once; looking them up for each call costs more than a short digest.
enum Algorithms {
    // Immutable after the fetch, and OpenSSL lets every thread use them.
    nonisolated(unsafe) static let sha256: OpaquePointer? = EVP_MD_fetch(nil, "SHA256", nil)
    nonisolated(unsafe) static let aes256GCM: OpaquePointer? = EVP_CIPHER_fetch(
        nil, "AES-256-GCM", nil)
}
