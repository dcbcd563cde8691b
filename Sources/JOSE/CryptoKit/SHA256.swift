#if canImport(CryptoKit)
    import CryptoKit

    /// SHA-256 (FIPS 180-4), by CryptoKit. Type-checked, never run on a device.
    public enum SHA256 {
        /// The digest's length in octets.
        public static let length = 32

        /// The 32-octet digest of `bytes`.
        public static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] {
            var function = CryptoKit.SHA256()
            Array(bytes).withUnsafeBytes { function.update(bufferPointer: $0) }
            return Array(function.finalize())
        }
    }
#endif
