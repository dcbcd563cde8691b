/// A recursive-descent reader over octets; its depth is bounded, so no input can exhaust the stack.
struct JSONReader {
    let bytes: [UInt8]
    let dialect: JSONDialect
    let maximumDepth: Int
    var index = 0
    private var depth = 0

    init(bytes: [UInt8], dialect: JSONDialect, maximumDepth: Int) {
        self.bytes = bytes
        self.dialect = dialect
        self.maximumDepth = maximumDepth
    }

    mutating func readDocument() throws(JSONError) -> JSONValue {
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) {
            guard dialect == .json5 else { throw fault(.notUTF8) }
            index = 3
        }
        try skipBlanks()
        let value = try readValue()
        try skipBlanks()
        guard index == bytes.count else { throw fault(.trailingBytes) }
        return value
    }

    private mutating func readValue() throws(JSONError) -> JSONValue {
        let start = index
        switch try peek() {
        case UInt8(ascii: "{"): return JSONValue(.object(try readObject()), at: start)
        case UInt8(ascii: "["): return JSONValue(.array(try readArray()), at: start)
        case UInt8(ascii: "\""): return JSONValue(.string(try readString()), at: start)
        case UInt8(ascii: "'") where dialect == .json5:
            return JSONValue(.string(try readString()), at: start)
        case UInt8(ascii: "t"): try expect("true"); return JSONValue(.bool(true), at: start)
        case UInt8(ascii: "f"): try expect("false"); return JSONValue(.bool(false), at: start)
        case UInt8(ascii: "n"): try expect("null"); return JSONValue(.null, at: start)
        default: return JSONValue(.number(try readNumber()), at: start)
        }
    }

    private mutating func readObject() throws(JSONError) -> [JSONMember] {
        var members: [JSONMember] = []
        var names = MemberNames()
        try readSequence(closing: UInt8(ascii: "}")) { (reader: inout Self) throws(JSONError) in
            let start = reader.index
            let name = try reader.readName()
            guard names.insert(name) else {
                throw reader.fault(.duplicateMember, at: start)
            }
            try reader.skipBlanks()
            guard try reader.peek() == UInt8(ascii: ":") else {
                throw reader.fault(.unexpectedCharacter)
            }
            reader.index += 1
            try reader.skipBlanks()
            members.append(JSONMember(name: name, value: try reader.readValue(), offset: start))
        }
        return members
    }

    private mutating func readArray() throws(JSONError) -> [JSONValue] {
        var elements: [JSONValue] = []
        try readSequence(closing: UInt8(ascii: "]")) { (reader: inout Self) throws(JSONError) in
            elements.append(try reader.readValue())
        }
        return elements
    }

    /// Reads `open element , element … close`, with `element` called at each element.
    private mutating func readSequence(
        closing: UInt8, _ element: (inout Self) throws(JSONError) -> Void
    ) throws(JSONError) {
        depth += 1
        guard depth <= maximumDepth else { throw fault(.tooDeep) }
        index += 1
        try skipBlanks()
        if try peek() != closing {
            while true {
                try element(&self)
                try skipBlanks()
                if try peek() == closing { break }
                guard try peek() == UInt8(ascii: ",") else { throw fault(.unexpectedCharacter) }
                index += 1
                try skipBlanks()
                if dialect == .json5, try peek() == closing { break }
            }
        }
        index += 1
        depth -= 1
    }

    private mutating func readName() throws(JSONError) -> String {
        let first = try peek()
        if first == UInt8(ascii: "\"") { return try readString() }
        guard dialect == .json5 else { throw fault(.unexpectedCharacter) }
        if first == UInt8(ascii: "'") { return try readString() }
        let start = index
        while index < bytes.count, bytes[index].isIdentifierByte(first: index == start) {
            index += 1
        }
        guard index > start else { throw fault(.unexpectedCharacter) }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func expect(_ word: StaticString) throws(JSONError) {
        let end = index + word.utf8CodeUnitCount
        guard end <= bytes.count else { throw fault(.unexpectedEnd, at: bytes.count) }
        let expected = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard bytes[index..<end].elementsEqual(expected) else { throw fault(.unexpectedCharacter) }
        index = end
    }

    func peek() throws(JSONError) -> UInt8 {
        guard index < bytes.count else { throw fault(.unexpectedEnd) }
        return bytes[index]
    }

    func fault(_ reason: JSONError.Reason, at offset: Int? = nil) -> JSONError {
        JSONError(reason, at: offset ?? index, in: bytes)
    }
}

extension UInt8 {
    var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

    var hexValue: UInt32? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(self - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(self - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(self - UInt8(ascii: "A")) + 10
        default: nil
        }
    }

    fileprivate func isIdentifierByte(first: Bool) -> Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "_"), UInt8(ascii: "$"):
            true
        default: !first && isDigit
        }
    }
}
