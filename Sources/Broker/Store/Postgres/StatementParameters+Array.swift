/// One-dimensional arrays in Postgres's binary format (`array_recv`): dimensions, a flag for NULLs, the
/// element type's OID, length and lower bound, then each element with its length.
extension StatementParameters {
    mutating func append(bigints: some Collection<Int64>) {
        appendArray(bigints, elementType: 20) { bytes, value in
            bytes.append(bigEndian: Int32(8))
            bytes.append(bigEndian: value)
        }
    }

    mutating func append(integers: some Collection<Int32>) {
        appendArray(integers, elementType: 23) { bytes, value in
            bytes.append(bigEndian: Int32(4))
            bytes.append(bigEndian: value)
        }
    }

    /// `nil` is NULL.
    mutating func append(optionalBigints: some Collection<Int64?>) {
        appendArray(optionalBigints, elementType: 20) { bytes, value in
            bytes.append(bigEndian: value == nil ? Int32(-1) : 8)
            if let value { bytes.append(bigEndian: value) }
        }
    }

    mutating func append(texts: some Collection<String>) {
        appendArray(texts, elementType: 25) { bytes, value in
            bytes.append(bigEndian: Int32(value.utf8.count))
            bytes.append(contentsOf: value.utf8)
        }
    }

    /// `nil` is NULL.
    mutating func append(byteas: some Collection<[UInt8]?>) {
        appendArray(byteas, elementType: 17) { bytes, value in
            bytes.append(bigEndian: value.map { Int32($0.count) } ?? -1)
            bytes.append(contentsOf: value ?? [])
        }
    }

    private mutating func appendArray<Element>(
        _ elements: some Collection<Element>, elementType: Int32,
        _ write: (inout [UInt8], Element) -> Void
    ) {
        append(format: Self.binary) { bytes in
            bytes.append(bigEndian: Int32(elements.isEmpty ? 0 : 1))
            bytes.append(bigEndian: Int32(1))  // there may be NULLs; the server looks for itself
            bytes.append(bigEndian: elementType)
            guard !elements.isEmpty else { return }
            bytes.append(bigEndian: Int32(elements.count))
            bytes.append(bigEndian: Int32(1))
            for element in elements { write(&bytes, element) }
        }
    }
}
