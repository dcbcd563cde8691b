internal import CPKCS11

/// Attributes to look for, lent to a call as the array it wants.
struct PKCS11Attributes {
    private var attributes: [(type: Int, octets: [UInt8])] = []

    init(class objectClass: Int) {
        add(CKA_CLASS, withUnsafeBytes(of: CK_ULONG(objectClass)) { Array($0) })
    }

    mutating func add(_ type: Int, _ octets: [UInt8]) {
        attributes.append((type, octets))
    }

    func lend<Value>(_ body: (UnsafeMutablePointer<CK_ATTRIBUTE>, CK_ULONG) -> Value) -> Value {
        // Numbers among the values need their alignment.
        let stride = 16
        let rooms = attributes.map { ($0.octets.count + stride) / stride * stride }
        let values = UnsafeMutableRawPointer.allocate(
            byteCount: rooms.reduce(0, +), alignment: stride)
        defer { values.deallocate() }
        return withUnsafeTemporaryAllocation(of: CK_ATTRIBUTE.self, capacity: attributes.count) {
            array in
            var place = values
            for (index, attribute) in attributes.enumerated() {
                place.copyMemory(from: attribute.octets, byteCount: attribute.octets.count)
                array[index] = CK_ATTRIBUTE(
                    type: CK_ULONG(attribute.type), pValue: place,
                    ulValueLen: CK_ULONG(attribute.octets.count))
                place += rooms[index]
            }
            guard let base = array.baseAddress else {
                preconditionFailure("a class is always there")
            }
            return body(base, CK_ULONG(attributes.count))
        }
    }
}
