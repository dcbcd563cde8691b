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
extension Secret: Equatable where Value: Equatable {}
