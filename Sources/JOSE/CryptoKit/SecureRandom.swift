#if canImport(CryptoKit)
    import Darwin
    import Security

    /// Random octets from the system's generator. Type-checked, never run on a device.
    public enum SecureRandom {
        /// `count` unpredictable octets.
        ///
        /// - Throws: `SecureRandomError` when the generator gives none; nothing weaker is ever returned.
        public static func bytes(_ count: Int) throws(SecureRandomError) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: count)
            let status = SecRandomCopyBytes(kSecRandomDefault, count, &bytes)
            guard status == errSecSuccess else { throw SecureRandomError(status: status) }
            return bytes
        }
    }

    /// What the generator answered instead.
    public struct SecureRandomError: Error, Equatable {
        /// An `OSStatus`.
        public let status: Int32
    }

    /// Whether two octet strings are equal, in a time that depends on their lengths alone.
    public func constantTimeEquals(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Overwrites `bytes` with zeros in a way the compiler keeps, and empties it.
    public func wipe(_ bytes: inout [UInt8]) {
        _ = bytes.withUnsafeMutableBytes { memset_s($0.baseAddress, $0.count, 0, $0.count) }
        bytes = []
    }
#endif
