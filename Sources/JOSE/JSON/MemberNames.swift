/// The names one object has had so far.
///
/// Names are compared octet by octet: Swift's `==` takes canonically equivalent texts for equal, and JSON does not.
struct MemberNames {
    private var few: [String] = []
    private var many: Set<[UInt8]> = []

    /// Remembers `name`; `false` when it was there already.
    mutating func insert(_ name: String) -> Bool {
        // Objects with few members are the rule, and looking through them costs less than hashing.
        if few.count < 16 {
            guard !few.contains(where: { $0.hasSameOctets(as: name) }) else { return false }
            few.append(name)
            if few.count == 16 { many = Set(few.map { Array($0.utf8) }) }
            return true
        }
        return many.insert(Array(name.utf8)).inserted
    }
}

extension String {
    /// Equality code point by code point, as RFC 7515 §5.3 and RFC 3986 §6.2.1 mean it, without Unicode normalisation.
    func hasSameOctets(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let isSame = utf8.withContiguousStorageIfAvailable { octets in
            other.utf8.withContiguousStorageIfAvailable(octets.elementsEqual)
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
