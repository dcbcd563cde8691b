import CLibpq

/// Owns one `PGresult`.
struct QueryResult: ~Copyable {
    private let result: OpaquePointer

    init(_ result: OpaquePointer) {
        self.result = result
    }

    deinit { PQclear(result) }

    /// The error this result stands for, `nil` when the statement succeeded.
    var error: PostgresError? {
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
            return nil
        default:
            return .server(
                sqlState: field(.sqlState) ?? "XX000",
                message: field(.primaryMessage) ?? "no message")
        }
    }

    var rowCount: Int { Int(PQntuples(result)) }
    var columnCount: Int { Int(PQnfields(result)) }

    /// How many rows an INSERT, UPDATE or DELETE touched.
    var affectedRows: Int {
        PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
    }

    func name(ofColumn column: Int) -> String {
        PQfname(result, Int32(column)).map { String(cString: $0) } ?? ""
    }

    /// The value's bytes in the format asked for; `nil` for NULL.
    func bytes(row: Int, column: Int) -> UnsafeRawBufferPointer? {
        guard PQgetisnull(result, Int32(row), Int32(column)) == 0,
            let start = PQgetvalue(result, Int32(row), Int32(column))
        else { return nil }
        return UnsafeRawBufferPointer(
            start: start, count: Int(PQgetlength(result, Int32(row), Int32(column))))
    }

    /// A value of a text-format result; `nil` for NULL.
    func text(row: Int, column: Int) -> String? {
        bytes(row: row, column: column).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A big-endian integer of a binary-format result; `nil` for NULL or another width.
    func integer<Value: FixedWidthInteger>(_: Value.Type, row: Int, column: Int) -> Value? {
        guard let bytes = bytes(row: row, column: column),
            bytes.count == MemoryLayout<Value>.size
        else { return nil }
        return Value(bigEndian: bytes.loadUnaligned(as: Value.self))
    }

    /// The elements of a one-dimensional array of integers in a binary-format result (as `array_send` writes it); `nil`
    /// for NULL or another form.
    func array<Value: FixedWidthInteger>(_: Value.Type, row: Int, column: Int) -> [Value?]? {
        guard let bytes = bytes(row: row, column: column) else { return nil }
        var place = 0
        func next<Field: FixedWidthInteger>(_: Field.Type) -> Field? {
            guard place + MemoryLayout<Field>.size <= bytes.count else { return nil }
            defer { place += MemoryLayout<Field>.size }
            return Field(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: Field.self))
        }
        guard let dimensions = next(Int32.self), next(Int64.self) != nil else { return nil }
        if dimensions == 0 { return [] }
        guard dimensions == 1, let count = next(Int32.self), next(Int32.self) == 1 else {
            return nil
        }
        var elements: [Value?] = []
        for _ in 0..<max(0, count) {
            switch next(Int32.self) {
            case -1: elements.append(nil)
            case Int32(MemoryLayout<Value>.size):
                guard let value = next(Value.self) else { return nil }
                elements.append(value)
            default: return nil
            }
        }
        return elements
    }

    /// The fields of an error by libpq's codes, `PG_DIAG_…`: macros of a form Swift does not import.
    private enum Field: Int32 {
        case sqlState = 0x43  // 'C'
        case primaryMessage = 0x4D  // 'M'
    }

    private func field(_ field: Field) -> String? {
        PQresultErrorField(result, field.rawValue).map { String(cString: $0) }
    }
}
