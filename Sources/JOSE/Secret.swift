/// A value that never shows itself: its description, debug description and mirror say `<secret>`.
///
/// Key text, assertions, tokens and proofs travel in it; `expose()` marks the few places that need the value.
public struct Secret<Value>: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let value: Value

    /// Wraps `value`.
    public init(_ value: Value) {
        self.value = value
    }

    /// The value itself, for the one place that sends or uses it.
    public func expose() -> Value { value }

    /// Always `<secret>`.
    public var description: String { "<secret>" }
    /// Always `<secret>`.
    public var debugDescription: String { "<secret>" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Secret: Sendable where Value: Sendable {}
extension Secret: Equatable where Value: ConstantTimeComparable {
    /// Whether both hold the same; takes the same time whatever they hold.
    public static func == (left: Secret, right: Secret) -> Bool {
        Value.equalsInConstantTime(left.value, right.value)
    }
}

/// A value whose comparison tells nothing by the time it takes, except the length. The only kind of secret that can be
/// compared: one that is merely `Equatable` stops at the first difference.
public protocol ConstantTimeComparable {
    /// Whether both are the same.
    static func equalsInConstantTime(_ left: Self, _ right: Self) -> Bool
}

extension String: ConstantTimeComparable {
    /// Whether both have the same UTF-8 octets: stricter than `==`, which takes composed characters for decomposed ones.
    public static func equalsInConstantTime(_ left: String, _ right: String) -> Bool {
        constantTimeEquals(Array(left.utf8), Array(right.utf8))
    }
}

extension Array: ConstantTimeComparable where Element == UInt8 {
    /// Whether both have the same octets.
    public static func equalsInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        constantTimeEquals(left, right)
    }
}
