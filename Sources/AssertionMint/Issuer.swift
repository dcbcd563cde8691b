internal import JOSE

/// An authorization server's issuer identifier (RFC 8414 §2), kept byte for byte as it was configured: `aud` must be
/// exactly the text the provider compares with, so nothing is ever normalised.
public struct Issuer: Hashable, Sendable, CustomStringConvertible {
    /// The identifier's text.
    public let rawValue: String

    /// `nil` unless `text` is an `https` URL without query, fragment and user information. Plain `http` is taken for a
    /// loopback host only, where development providers listen.
    public init?(_ text: String) {
        guard text.utf8.count <= 512, !text.utf8.contains(UInt8(ascii: "?")),
            !text.utf8.contains(UInt8(ascii: "#")), let uri = HTTPTargetURI(text),
            uri.isSecure || Self.loopbackHosts.contains(uri.host)
        else { return nil }
        rawValue = text
    }

    /// The identifier's text.
    public var description: String { rawValue }

    private static let loopbackHosts: Set<String> = ["127.0.0.1", "[::1]", "localhost"]
}
