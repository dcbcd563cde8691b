/// A parsed JSON value that remembers where in the text it began.
public struct JSONValue: Sendable {
    /// The six kinds of RFC 8259 §3.
    public enum Kind: Sendable {
        /// `null`.
        case null
        /// `true` or `false`.
        case bool(Bool)
        /// A number, as written.
        case number(JSONNumber)
        /// A string, unescaped.
        case string(String)
        /// An array.
        case array([JSONValue])
        /// An object; names are unique, order as written.
        case object([JSONMember])
    }

    /// What the value is.
    public let kind: Kind
    /// Octets from the start of the text to the value.
    public let offset: Int

    /// Reads exactly one value from `bytes`.
    ///
    /// - Parameters:
    ///   - dialect: `.strict` (RFC 8259) for anything from a peer, `.json5` for configuration files.
    ///   - maximumDepth: objects and arrays inside one another, 16 unless told otherwise. A level takes 2 to 4 KiB of
    ///     stack in a debug build, and worker threads have 512 KiB: stay below 100.
    /// - Throws: `JSONError` with the place of the fault.
    public init(
        parsing bytes: [UInt8], dialect: JSONDialect = .strict, maximumDepth: Int = 16
    ) throws(JSONError) {
        var reader = JSONReader(bytes: bytes, dialect: dialect, maximumDepth: maximumDepth)
        self = try reader.readDocument()
    }

    init(_ kind: Kind, at offset: Int) {
        self.kind = kind
        self.offset = offset
    }

    /// The member of that name, or `nil` when there is none or this is no object.
    public subscript(_ name: String) -> JSONValue? {
        members?.first { $0.name.hasSameOctets(as: name) }?.value
    }

    /// The members, or `nil` when this is no object.
    public var members: [JSONMember]? {
        if case .object(let members) = kind { members } else { nil }
    }

    /// The elements, or `nil` when this is no array.
    public var array: [JSONValue]? {
        if case .array(let elements) = kind { elements } else { nil }
    }

    /// The text, or `nil` when this is no string.
    public var string: String? {
        if case .string(let text) = kind { text } else { nil }
    }

    /// The truth value, or `nil` when this is no boolean.
    public var bool: Bool? {
        if case .bool(let value) = kind { value } else { nil }
    }

    /// The number, or `nil` when this is none.
    public var number: JSONNumber? {
        if case .number(let value) = kind { value } else { nil }
    }

    /// The number as an integer, or `nil` when it is not written as one or does not fit.
    public var integer: Int64? { number?.integer }

    /// Whether this is `null`.
    public var isNull: Bool {
        if case .null = kind { true } else { false }
    }
}

/// One member of an object.
public struct JSONMember: Sendable {
    /// The unescaped name.
    public let name: String
    /// Its value.
    public let value: JSONValue
    /// Octets from the start of the text to the name.
    public let offset: Int
}

/// A number as it was written, so that nothing is lost before somebody asks.
public struct JSONNumber: Sendable, Equatable {
    /// The literal.
    public let text: String

    /// The value of a literal without fraction and exponent that fits, otherwise `nil`.
    public var integer: Int64? {
        Int64(text)
    }

    /// The nearest double, or `nil` when it would not be finite.
    public var double: Double? {
        guard let value = integer.map(Double.init) ?? Double(text), value.isFinite else {
            return nil
        }
        return value
    }
}

/// Which grammar a reader follows.
public enum JSONDialect: Sendable {
    /// RFC 8259, nothing else.
    case strict
    /// JSON with what people want in a file (a part of JSON5): comments, trailing commas, unquoted ASCII
    /// names, single quotes, a plus sign, hexadecimal integers, a byte order mark.
    case json5
}
