public import JOSE

/// A token identifier of 128 random bits, 22 base64url characters (RFC 7519 §4.1.7).
public struct JTI: Hashable, Sendable, CustomStringConvertible {
    /// The 22 characters.
    public let rawValue: String

    /// A new one from the system's generator.
    ///
    /// - Throws: `OpenSSLError` when there is no good randomness; then nothing may be minted.
    public static func random() throws(OpenSSLError) -> JTI {
        JTI(rawValue: Base64URL.encode(try SecureRandom.identifier()))
    }

    private init(rawValue: String) { self.rawValue = rawValue }

    /// `nil` unless `text` is the only spelling of 16 octets.
    public init?(_ text: String) {
        guard text.utf8.count == 22, Base64URL.decode(text)?.count == 16 else { return nil }
        rawValue = text
    }

    /// The 22 characters.
    public var description: String { rawValue }
}
