/// Base64 with padding (RFC 4648 §4).
enum Base64 {
    /// `nil` for text that no encoder makes: other characters, missing or odd padding, or bits set behind the last octet.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        let digits = text.prefix { $0 != UInt8(ascii: "=") }
        let padding = text.count - digits.count
        guard padding <= 2, text.suffix(padding).allSatisfy({ $0 == UInt8(ascii: "=") }) else {
            return nil
        }
        var octets: [UInt8] = []
        octets.reserveCapacity(text.count / 4 * 3)
        var bits: UInt32 = 0
        var count = 0
        for digit in digits {
            guard let value = value(digit) else { return nil }
            bits = bits << 6 | value
            count += 6
            if count >= 8 {
                count -= 8
                octets.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
                bits &= 1 << UInt32(count) - 1
            }
        }
        return bits == 0 && count < 6 ? octets : nil
    }

    private static func value(_ digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
