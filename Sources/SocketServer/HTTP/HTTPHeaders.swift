internal import Glibc

/// A request's header fields: the head's octets and where each field lies in them. Strings are made when asked for.
///
/// Octets that are not UTF-8 read as U+FFFD, so such a value equals no text a handler looks for.
public struct HTTPHeaders: Sendable {
    struct Field: Sendable {
        var name: Range<Int>
        var value: Range<Int>
    }

    /// The head as it came, but for the field names, which are in lower case.
    private let octets: [UInt8]
    private let fields: [Field]

    /// - Parameter fields: where names and values lie in `octets`, blanks around the values left out.
    init(octets: Octets, fields: [Field]) {
        self.fields = fields
        self.octets = [UInt8](unsafeUninitializedCapacity: octets.count) { copy, count in
            count = copy.initialize(fromContentsOf: octets)
            for field in fields {
                for index in field.name { copy[index] = copy[index].lowercased }
            }
        }
    }

    /// Makes fields without a socket, for the tests of a handler. Names may have any letter case.
    public init(_ pairs: [(name: String, value: String)]) {
        var octets: [UInt8] = []
        var fields: [Field] = []
        for (name, value) in pairs {
            let start = octets.count
            octets += name.utf8.map(\.lowercased)
            let middle = octets.count
            octets += value.utf8
            fields.append(Field(name: start..<middle, value: middle..<octets.count))
        }
        self.octets = octets
        self.fields = fields
    }

    /// The value of the first field with this name, blanks around it left out; `nil` when there is none.
    public func first(_ lowercasedName: String) -> String? {
        for field in fields where matches(field, lowercasedName) { return value(of: field) }
        return nil
    }

    /// The values of all fields with this name, in order.
    public func all(_ lowercasedName: String) -> [String] {
        var values: [String] = []
        for field in fields where matches(field, lowercasedName) { values.append(value(of: field)) }
        return values
    }

    /// How many fields have this name.
    public func count(_ lowercasedName: String) -> Int {
        var count = 0
        for field in fields where matches(field, lowercasedName) { count += 1 }
        return count
    }

    /// Every field in order, names in lower case.
    public var pairs: [(name: String, value: String)] {
        fields.map { (String(decoding: octets[$0.name], as: UTF8.self), value(of: $0)) }
    }

    private func matches(_ field: Field, _ name: String) -> Bool {
        var name = name
        return name.withUTF8 { name in
            guard field.name.count == name.count, let start = name.baseAddress else { return false }
            return octets.withUnsafeBufferPointer { octets in
                guard let base = octets.baseAddress else { return false }
                return memcmp(base + field.name.lowerBound, start, name.count) == 0
            }
        }
    }

    private func value(of field: Field) -> String {
        octets.withUnsafeBufferPointer {
            String(decoding: UnsafeBufferPointer(rebasing: $0[field.value]), as: UTF8.self)
        }
    }
}
