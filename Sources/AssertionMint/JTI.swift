public import JOSE

/// A token identifier (RFC 7519 §4.1.7) of 128 random bits: 24 base64url characters, of which the first 2 octets are the time.
///
/// The time makes identifiers of one second neighbours in the store's index. All random, each went to a page of its own
/// among those of every mint that is kept, and each page touched since a checkpoint is logged whole.
public struct JTI: Hashable, Sendable, CustomStringConvertible {
    /// The characters.
    public let rawValue: String

    /// A new one from the system's generator.
    ///
    /// - Parameter second: since 1970; the assertion's `iat` tells no less. A clock that is wrong costs nothing but order.
    /// - Throws: `OpenSSLError` when there is no good randomness; then nothing may be minted.
    public static func random(at second: Int64) throws(OpenSSLError) -> JTI {
        let time = UInt16(truncatingIfNeeded: second)
        let octets = [UInt8(time >> 8), UInt8(truncatingIfNeeded: time)]
        return JTI(rawValue: Base64URL.encode(octets + (try SecureRandom.identifier())))
    }

    private init(rawValue: String) { self.rawValue = rawValue }

    /// `nil` unless `text` is the only spelling of 18 octets, or of 16, which are the random ones alone: so others make theirs.
    public init?(_ text: String) {
        guard [22, 24].contains(text.utf8.count), let octets = Base64URL.decode(text),
            octets.count >= 16
        else { return nil }
        rawValue = text
    }

    /// The characters.
    public var description: String { rawValue }
}
