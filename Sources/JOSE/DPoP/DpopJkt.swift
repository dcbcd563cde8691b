/// A DPoP public key's SHA-256 thumbprint (RFC 7638, RFC 9449 §6.1): 43 canonical base64url characters.
public struct DpopJkt: Hashable, Sendable, CustomStringConvertible {
    /// The 43 characters.
    public let rawValue: String

    /// `nil` unless `text` is the only spelling of 32 octets.
    public init?(_ text: String) {
        guard text.utf8.count == 43, Base64URL.decode(text)?.count == 32 else { return nil }
        rawValue = text
    }

    /// The thumbprint of a key.
    public init(of key: PublicJWK) {
        rawValue = key.thumbprint
    }

    /// The 43 characters.
    public var description: String { rawValue }
}
