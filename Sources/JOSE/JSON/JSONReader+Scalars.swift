extension JSONReader {
    /// Skips white space, and in JSON5 comments.
    mutating func skipBlanks() throws(JSONError) {
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                index += 1
            case UInt8(ascii: "/") where dialect == .json5:
                try skipComment()
            default: return
            }
        }
    }

    private mutating func skipComment() throws(JSONError) {
        let start = index
        guard index + 1 < bytes.count else { throw fault(.unexpectedCharacter) }
        switch bytes[index + 1] {
        case UInt8(ascii: "/"):
            let lineEnd = bytes[index...].firstIndex {
                $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r")
            }
            index = lineEnd ?? bytes.count
        case UInt8(ascii: "*"):
            index += 2
            while index + 1 < bytes.count {
                if bytes[index] == UInt8(ascii: "*"), bytes[index + 1] == UInt8(ascii: "/") {
                    index += 2
                    return
                }
                index += 1
            }
            throw fault(.unexpectedEnd, at: start)
        default: throw fault(.unexpectedCharacter)
        }
    }

    /// Reads a string whose quote stands at `index`.
    mutating func readString() throws(JSONError) -> String {
        let start = index
        let quote = bytes[index]
        index += 1
        let textStart = index
        // Most strings hold no escape: find the end first and copy once.
        while index < bytes.count, bytes[index] != quote, bytes[index] != UInt8(ascii: "\\") {
            guard bytes[index] >= 0x20 else { throw fault(.badString) }
            index += 1
        }
        guard index < bytes.count else { throw fault(.unexpectedEnd, at: start) }
        if bytes[index] == quote {
            defer { index += 1 }
            return try utf8(bytes[textStart..<index], from: start)
        }
        var text = Array(bytes[textStart..<index])
        while true {
            guard index < bytes.count else { throw fault(.unexpectedEnd, at: start) }
            let byte = bytes[index]
            if byte == quote { break }
            guard byte >= 0x20 else { throw fault(.badString) }
            index += 1
            if byte == UInt8(ascii: "\\") {
                try readEscape(into: &text)
            } else {
                text.append(byte)
            }
        }
        index += 1
        return try utf8(text[...], from: start)
    }

    private func utf8(_ text: ArraySlice<UInt8>, from start: Int) throws(JSONError) -> String {
        // Nearly every text is ASCII, and to see that costs less than to validate.
        if text.allSatisfy({ $0 < 0x80 }) { return String(decoding: text, as: UTF8.self) }
        guard let text = String(validating: text, as: UTF8.self) else {
            throw fault(.notUTF8, at: start)
        }
        return text
    }

    private mutating func readEscape(into text: inout [UInt8]) throws(JSONError) {
        let start = index - 1
        let escape = try peek()
        index += 1
        switch escape {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(escape)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0c)
        case UInt8(ascii: "n"): text.append(0x0a)
        case UInt8(ascii: "r"): text.append(0x0d)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: try readUnicodeEscape(from: start))
        case UInt8(ascii: "'") where dialect == .json5: text.append(escape)
        case UInt8(ascii: "\n") where dialect == .json5: break  // a line continued
        default: throw fault(.badString, at: start)
        }
    }

    private mutating func readUnicodeEscape(from start: Int) throws(JSONError) -> [UInt8] {
        var code = try readHex4(from: start)
        if code >= 0xd800, code <= 0xdbff {
            guard index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"),
                bytes[index + 1] == UInt8(ascii: "u")
            else { throw fault(.badString, at: start) }
            index += 2
            let low = try readHex4(from: start)
            guard low >= 0xdc00, low <= 0xdfff else { throw fault(.badString, at: start) }
            code = 0x10000 + (code - 0xd800) << 10 + (low - 0xdc00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw fault(.badString, at: start) }
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func readHex4(from start: Int) throws(JSONError) -> UInt32 {
        guard index + 4 <= bytes.count else { throw fault(.unexpectedEnd, at: bytes.count) }
        var code: UInt32 = 0
        for byte in bytes[index..<index + 4] {
            guard let digit = byte.hexValue else { throw fault(.badString, at: start) }
            code = code << 4 | digit
        }
        index += 4
        return code
    }

    /// Reads a number; anything that cannot begin one is an unexpected character.
    mutating func readNumber() throws(JSONError) -> JSONNumber {
        let start = index
        guard
            bytes[start].isDigit || bytes[start] == UInt8(ascii: "-")
                || startsLooseNumber(bytes[start])
        else { throw fault(.unexpectedCharacter) }
        while index < bytes.count, bytes[index].isNumberByte { index += 1 }
        var literal = bytes[start..<index]
        if dialect == .json5 {
            if literal.first == UInt8(ascii: "+"), literal.dropFirst().first?.isDigit == true {
                literal = literal.dropFirst()
            }
            if let value = Self.hexadecimal(literal) { return JSONNumber(text: String(value)) }
        }
        guard Self.isNumber(literal) else { throw fault(.badNumber, at: start) }
        return JSONNumber(text: String(decoding: literal, as: UTF8.self))
    }

    private func startsLooseNumber(_ byte: UInt8) -> Bool {
        dialect == .json5 && byte == UInt8(ascii: "+")
    }

    /// `0x` and digits that fit 63 bits; kept as a decimal literal, so that what was read can be written as JSON.
    private static func hexadecimal(_ literal: ArraySlice<UInt8>) -> Int64? {
        guard literal.first == UInt8(ascii: "0"),
            literal.dropFirst().first.map({ $0 | 0x20 }) == UInt8(ascii: "x")
        else { return nil }
        let digits = literal.dropFirst(2)
        guard digits.allSatisfy({ $0.hexValue != nil }) else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    /// RFC 8259 §6: `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`.
    static func isNumber(_ literal: ArraySlice<UInt8>) -> Bool {
        var rest = literal
        if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        let whole = rest.prefix { $0.isDigit }
        guard !whole.isEmpty, whole.count == 1 || whole.first != UInt8(ascii: "0") else {
            return false
        }
        rest = rest.dropFirst(whole.count)
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix { $0.isDigit }
            guard !fraction.isEmpty else { return false }
            rest = rest.dropFirst(1 + fraction.count)
        }
        return isExponentOrEmpty(rest)
    }

    private static func isExponentOrEmpty(_ text: ArraySlice<UInt8>) -> Bool {
        guard let mark = text.first else { return true }
        guard mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") else { return false }
        var digits = text.dropFirst()
        if digits.first == UInt8(ascii: "+") || digits.first == UInt8(ascii: "-") {
            digits.removeFirst()
        }
        return !digits.isEmpty && digits.allSatisfy(\.isDigit)
    }
}

extension UInt8 {
    fileprivate var isNumberByte: Bool {
        hexValue != nil || self == UInt8(ascii: "+") || self == UInt8(ascii: "-")
            || self == UInt8(ascii: ".")
            || self == UInt8(ascii: "x") || self == UInt8(ascii: "X")
    }
}
