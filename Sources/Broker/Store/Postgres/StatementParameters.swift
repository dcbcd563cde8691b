/// The bound values of one statement, each in Postgres's binary or text format, in one buffer.
struct StatementParameters: Sendable {
    /// A value's place in `bytes`; `nil` for NULL.
    private(set) var ranges: [Range<Int>?] = []
    private(set) var formats: [Int32] = []
    private(set) var bytes: [UInt8] = []

    static let text: Int32 = 0
    static let binary: Int32 = 1

    init(reservingBytes count: Int = 0) {
        bytes.reserveCapacity(count)
    }

    mutating func appendNull() {
        ranges.append(nil)
        formats.append(Self.text)
    }

    /// Text in the server's own notation of whatever type the statement wants.
    mutating func append(text: String) {
        append(format: Self.text) {
            $0.append(contentsOf: text.utf8)
            $0.append(0)  // libpq reads text-format values as C strings
        }
    }

    mutating func append(bytea: [UInt8]) {
        append(format: Self.binary) { $0.append(contentsOf: bytea) }
    }

    mutating func append(bigint: Int64) {
        append(format: Self.binary) { $0.append(bigEndian: bigint) }
    }

    mutating func append(integer: Int32) {
        append(format: Self.binary) { $0.append(bigEndian: integer) }
    }

    /// Appends one value as whatever `write` adds to the buffer.
    mutating func append(format: Int32, _ write: (inout [UInt8]) -> Void) {
        let start = bytes.count
        write(&bytes)
        ranges.append(start..<bytes.count)
        formats.append(format)
    }

    /// Lends the three arrays libpq wants: values, lengths, formats.
    func withPointers<R>(
        _ body: (
            UnsafeBufferPointer<UnsafePointer<CChar>?>, UnsafeBufferPointer<Int32>,
            UnsafeBufferPointer<Int32>
        ) -> R
    ) -> R {
        bytes.withUnsafeBytes { buffer in
            // An empty value still needs an address: a null pointer would mean NULL.
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1) { empty in
                empty.initialize(repeating: 0)
                let values = ranges.map { range -> UnsafePointer<CChar>? in
                    guard let range else { return nil }
                    guard let base = buffer.baseAddress, !range.isEmpty else {
                        return UnsafePointer(empty.baseAddress)
                    }
                    return (base + range.lowerBound).assumingMemoryBound(to: CChar.self)
                }
                let lengths = ranges.map { Int32(clamping: $0?.count ?? 0) }
                return values.withUnsafeBufferPointer { values in
                    lengths.withUnsafeBufferPointer { lengths in
                        formats.withUnsafeBufferPointer { body(values, lengths, $0) }
                    }
                }
            }
        }
    }
}

extension [UInt8] {
    mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
