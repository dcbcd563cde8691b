public import JOSE

/// A token identifier of 128 random bits, 22 base64url characters (RFC 7519 §4.1.7).
public struct JTI: Hashable, Sendable, CustomStringConvertible {
    /// The 22 characters.
    public let rawValue: String

    /// A new one from the system's generator.
    ///
    /// - Throws: `OpenSSLError` when there is no good randomness; then nothing may be minted.
    public static func random() throws(OpenSSLError) -> JTI {
        JTI(rawValue: Base64URL.encode(try SecureRandom.bytes(16)))
    }

    /// The 22 characters.
    public var description: String { rawValue }
}
