/// An OAuth client identifier: 1 to 128 printable ASCII characters without blanks (RFC 6749 appendix A.1, and no space so
/// that it stays one word in a log or a command line).
public struct ClientId: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The identifier's text.
    public let rawValue: String

    /// `nil` for an empty or overlong text, blanks, control characters or anything beyond ASCII.
    public init?(_ text: String) {
        guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else {
            return nil
        }
        rawValue = text
    }

    /// The identifier's text.
    public var description: String { rawValue }

    /// By text, for sorted output.
    public static func < (left: ClientId, right: ClientId) -> Bool {
        left.rawValue < right.rawValue
    }
}
