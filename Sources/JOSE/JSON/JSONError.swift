/// Why a text is not acceptable JSON, and where.
public struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The rule that was broken.
    public enum Reason: String, Sendable {
        /// The text ends inside a value.
        case unexpectedEnd = "the text ends too early"
        /// A character that cannot stand here.
        case unexpectedCharacter = "unexpected character"
        /// A control character, a bad escape or a lone surrogate in a string.
        case badString = "malformed string"
        /// Octets that are not UTF-8 (RFC 8259 §8.1), or a byte order mark.
        case notUTF8 = "not UTF-8"
        /// A number no grammar rule allows.
        case badNumber = "malformed number"
        /// The same member name twice in one object.
        case duplicateMember = "duplicate member"
        /// More levels than the reader was told to allow.
        case tooDeep = "nested too deeply"
        /// Bytes after the value.
        case trailingBytes = "bytes after the value"
    }

    /// The rule that was broken.
    public let reason: Reason
    /// Octets from the start of the text.
    public let offset: Int
    /// Line of the fault, from 1.
    public let line: Int
    /// Column of the fault in octets, from 1.
    public let column: Int

    init(_ reason: Reason, at offset: Int, in bytes: [UInt8]) {
        self.reason = reason
        self.offset = offset
        (line, column) = JSONPosition.lineAndColumn(of: offset, in: bytes)
    }

    /// Place and rule; never any of the text itself.
    public var description: String { "line \(line), column \(column): \(reason.rawValue)" }
}

/// Turns an offset into the line and column a person looks for.
public enum JSONPosition {
    /// Line and column (in octets), both from 1, of `offset` in `bytes`.
    public static func lineAndColumn(of offset: Int, in bytes: [UInt8]) -> (line: Int, column: Int)
    {
        let before = bytes.prefix(max(0, offset))
        let line = before.reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return (line, before.count - lineStart + 1)
    }
}
