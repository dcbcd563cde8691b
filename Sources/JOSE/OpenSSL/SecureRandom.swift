internal import COpenSSL

/// Random octets from the system's generator, through OpenSSL.
public enum SecureRandom {
    /// `count` unpredictable octets.
    ///
    /// - Throws: `OpenSSLError` when the generator cannot be seeded; nothing weaker is ever returned.
    public static func bytes(_ count: Int) throws(OpenSSLError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard RAND_bytes(&bytes, Int32(count)) == 1 else { throw OpenSSLError.drain() }
        return bytes
    }
}

/// Whether two octet strings are equal, in a time that depends on their lengths alone.
public func constantTimeEquals(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
}

/// Overwrites `bytes` with zeros in a way the compiler keeps, and empties it.
public func wipe(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    bytes = []
}
