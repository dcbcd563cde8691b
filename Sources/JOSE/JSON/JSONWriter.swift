/// Writes one JSON text into a buffer, without building a tree.
///
/// Every control character, C1 control and line separator is escaped, so a value from outside can neither end a
/// log line nor reach a terminal as an escape sequence.
public struct JSONWriter: Sendable {
    /// The text so far, UTF-8.
    public private(set) var bytes: [UInt8]
    private var needsComma = false

    /// An empty text with room for `capacity` octets.
    public init(capacity: Int = 256) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// The text as a string.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Writes an object whose members `body` writes.
    public mutating func object(_ body: (inout JSONWriter) -> Void) {
        nest(UInt8(ascii: "{"), UInt8(ascii: "}"), body)
    }

    /// Writes an array whose elements `body` writes.
    public mutating func array(_ body: (inout JSONWriter) -> Void) {
        nest(UInt8(ascii: "["), UInt8(ascii: "]"), body)
    }

    /// Writes a member name; its value must be the next thing written.
    public mutating func name(_ name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a member with a string.
    public mutating func member(_ name: String, _ value: String) {
        self.name(name)
        string(value)
    }

    /// Writes a member with an integer.
    public mutating func member(_ name: String, _ value: some BinaryInteger) {
        self.name(name)
        integer(value)
    }

    /// Writes a member with a truth value.
    public mutating func member(_ name: String, _ value: Bool) {
        self.name(name)
        bool(value)
    }

    /// Writes a string value.
    public mutating func string(_ value: String) {
        beginValue()
        bytes.append(UInt8(ascii: "\""))
        var value = value
        value.withUTF8 { appendEscaped($0) }
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    /// Writes an integer value.
    public mutating func integer(_ value: some BinaryInteger) {
        beginValue()
        if let value = Int64(exactly: value) {
            appendDigits(of: value)
        } else {
            bytes.append(contentsOf: String(value).utf8)
        }
        needsComma = true
    }

    /// Writes `true` or `false`.
    public mutating func bool(_ value: Bool) {
        raw(value ? "true" : "false")
    }

    /// Writes `null`.
    public mutating func null() {
        raw("null")
    }

    /// Writes a value again as it was read, without white space.
    public mutating func value(_ value: JSONValue) {
        switch value.kind {
        case .null: null()
        case .bool(let flag): bool(flag)
        case .number(let number): raw(number.text)
        case .string(let text): string(text)
        case .array(let elements): array { for element in elements { $0.value(element) } }
        case .object(let members):
            object {
                for member in members {
                    $0.name(member.name)
                    $0.value(member.value)
                }
            }
        }
    }

    private mutating func raw(_ text: String) {
        beginValue()
        bytes.append(contentsOf: text.utf8)
        needsComma = true
    }

    private mutating func nest(_ open: UInt8, _ close: UInt8, _ body: (inout JSONWriter) -> Void) {
        beginValue()
        bytes.append(open)
        needsComma = false
        body(&self)
        bytes.append(close)
        needsComma = true
    }

    private mutating func beginValue() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }

    private mutating func appendDigits(of value: Int64) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var place = 20
            var rest = value.magnitude
            repeat {
                place -= 1
                digits[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            if value < 0 {
                place -= 1
                digits[place] = UInt8(ascii: "-")
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[place...]))
        }
    }

    /// Whether every octet is printable ASCII without quotes and backslashes, as nearly all that is ever written: eight
    /// octets at a time, by arithmetic that marks the top bit of some octet when any is special.
    private func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word }
        var special: UInt64 = 0
        var place = 0
        let octets = UnsafeRawBufferPointer(text)
        while place + 8 <= octets.count {
            let word = octets.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            // Beyond ASCII, or a control character; then a quote, a backslash and DEL.
            special |= word | (word &- ones &* 0x20) & ~word
            special |= zeros(word ^ ones &* 0x22) | zeros(word ^ ones &* 0x5c)
            special |= zeros(word ^ ones &* 0x7f)
            place += 8
        }
        guard special & ones &* 0x80 == 0 else { return false }
        return octets[place...].allSatisfy {
            $0 >= 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
    }

    private mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>) {
        if isPlain(text) { return bytes.append(contentsOf: text) }
        var runStart = 0
        var index = 0
        while index < text.count {
            guard let (scalar, length) = escapable(text, at: index) else {
                index += 1
                continue
            }
            bytes.append(contentsOf: text[runStart..<index])
            appendEscape(of: scalar)
            index += length
            runStart = index
        }
        bytes.append(contentsOf: text[runStart...])
    }

    /// The scalar at `index` and its length in octets when it must be escaped.
    private func escapable(_ text: UnsafeBufferPointer<UInt8>, at index: Int) -> (UInt16, Int)? {
        let byte = text[index]
        if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7f {
            return (UInt16(byte), 1)
        }
        if byte == 0xc2, index + 1 < text.count, text[index + 1] < 0xa0 {
            return (UInt16(text[index + 1]), 2)  // U+0080 to U+009F, among them NEL and CSI
        }
        if byte == 0xe2, index + 2 < text.count, text[index + 1] == 0x80,
            text[index + 2] == 0xa8 || text[index + 2] == 0xa9
        {
            return (text[index + 2] == 0xa8 ? 0x2028 : 0x2029, 3)
        }
        return nil
    }

    private mutating func appendEscape(of scalar: UInt16) {
        if scalar == UInt16(UInt8(ascii: "\"")) || scalar == UInt16(UInt8(ascii: "\\")) {
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(UInt8(scalar))
            return
        }
        let digits = String(scalar, radix: 16)
        bytes.append(contentsOf: "\\u".utf8)
        bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count))
        bytes.append(contentsOf: digits.utf8)
    }
}
