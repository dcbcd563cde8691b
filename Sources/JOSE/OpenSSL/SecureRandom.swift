internal import COpenSSL
internal import Synchronization

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

    /// 16 unpredictable octets for an identifier: a `jti`, a request's id. Not for a key: they come from a store of
    /// random octets in this process's memory, each of which is given out once and then erased.
    ///
    /// - Throws: as `bytes`.
    public static func identifier() throws(OpenSSLError) -> [UInt8] {
        try supply.withLock { supply throws(OpenSSLError) in try supply.take(16) }
    }

    private static let supply = Mutex(Supply())

    /// A call of the generator costs the same for 16 octets as for a few hundred.
    private struct Supply {
        private static let size = 1024
        private var octets: [UInt8] = []
        private var next = 0

        mutating func take(_ count: Int) throws(OpenSSLError) -> [UInt8] {
            if next + count > octets.count {
                octets = try SecureRandom.bytes(Self.size)
                next = 0
            }
            let taken = Array(octets[next..<next + count])
            for place in next..<next + count { octets[place] = 0 }
            next += count
            return taken
        }
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
