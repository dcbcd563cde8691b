/// Parameters of an `application/x-www-form-urlencoded` body, read strictly (RFC 6749 §3.2, Appendix B).
///
/// Names are unique, escapes are whole, the text is UTF-8 without control characters. An empty value counts as absent.
struct Form: Sendable {
    private let values: [String: String]

    /// The most parameters that are read.
    static let maximumCount = 64

    init(parsing body: [UInt8]) throws(RequestFault) {
        var values: [String: String] = [:]
        let pairs =
            body.isEmpty
            ? [] : body.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        guard pairs.count <= Self.maximumCount else { throw .malformedForm }
        for pair in pairs {
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = Self.decode(pair[..<equals]), !name.isEmpty,
                let value = Self.decode(pair[equals...].dropFirst())
            else { throw .malformedForm }
            guard values.updateValue(value, forKey: name) == nil else { throw .repeatedParameter }
        }
        self.values = values
    }

    /// The value of a parameter, `nil` when it is absent or empty.
    subscript(_ name: String) -> String? {
        values[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The value of a parameter that must be there.
    func required(_ name: String) throws(OAuthFault) -> String {
        guard let value = self[name] else { throw .invalidRequest(.missing(name)) }
        return value
    }

    private static func decode(_ text: ArraySlice<UInt8>) -> String? {
        var octets: [UInt8] = []
        octets.reserveCapacity(text.count)
        var index = text.startIndex
        while index < text.endIndex {
            switch text[index] {
            case UInt8(ascii: "+"): octets.append(0x20)
            case UInt8(ascii: "%"):
                guard index + 2 < text.endIndex, let high = hex(text[index + 1]),
                    let low = hex(text[index + 2])
                else { return nil }
                octets.append(high << 4 | low)
                index += 2
            case let octet where octet > 0x20 && octet < 0x7f: octets.append(octet)
            default: return nil
            }
            index += 1
        }
        guard octets.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { return nil }
        return String(validating: octets, as: UTF8.self)
    }

    private static func hex(_ octet: UInt8) -> UInt8? {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): octet - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): octet - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): octet - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
