/// A value bound to a statement's parameter. The statement decides the SQL type, by a cast or by where
/// the parameter stands; `bytes` needs `bytea`, `texts` needs `text[]`, all others fit any.
enum SQLValue: Sendable, Equatable {
    case null
    case text(String)
    case integer(Int64)
    case boolean(Bool)
    case bytes([UInt8])
    case texts([String])

    func append(to parameters: inout StatementParameters) {
        switch self {
        case .null: parameters.appendNull()
        case .text(let text): parameters.append(text: text)
        case .integer(let value): parameters.append(text: String(value))
        case .boolean(let value): parameters.append(text: value ? "true" : "false")
        case .bytes(let bytes): parameters.append(bytea: bytes)
        case .texts(let texts): parameters.append(texts: texts)
        }
    }
}

/// One row of an answer, values in Postgres's text notation.
struct SQLRow: Sendable, Equatable {
    let columns: [String]
    let values: [String?]

    /// The text of a column; throws when there is no such column or it is NULL.
    func text(_ column: String) throws(PostgresError) -> String {
        guard let value = try optionalText(column) else {
            throw .unexpectedAnswer("\(column) is NULL")
        }
        return value
    }

    /// The text of a column, `nil` for NULL; throws when there is no such column.
    func optionalText(_ column: String) throws(PostgresError) -> String? {
        guard let place = columns.firstIndex(of: column) else {
            throw .unexpectedAnswer("no column \(column)")
        }
        return values[place]
    }

    func integer(_ column: String) throws(PostgresError) -> Int64 {
        guard let value = Int64(try text(column)) else {
            throw .unexpectedAnswer("\(column) is not an integer")
        }
        return value
    }

    func boolean(_ column: String) throws(PostgresError) -> Bool {
        switch try text(column) {
        case "t": return true
        case "f": return false
        default: throw .unexpectedAnswer("\(column) is not a boolean")
        }
    }

    /// A `bytea` in Postgres's hex notation.
    func bytes(_ column: String) throws(PostgresError) -> [UInt8] {
        let digits = Array(try text(column).utf8)
        guard digits.starts(with: [0x5C, 0x78]), digits.count.isMultiple(of: 2) else {
            throw .unexpectedAnswer("\(column) is not a bytea")
        }
        var bytes: [UInt8] = []
        for place in stride(from: 2, to: digits.count, by: 2) {
            let pair = String(decoding: digits[place...place + 1], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16) else {
                throw .unexpectedAnswer("\(column) is not a bytea")
            }
            bytes.append(byte)
        }
        return bytes
    }
}
