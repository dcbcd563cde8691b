/// Base64 of text that may be a key (RFC 4648 §4 and §5): decoded into one buffer that never grows, and that is wiped
/// when the text turns out to be something else.
enum KeyBase64 {
    enum Spelling {
        /// `+` and `/`, with padding.
        case pem
        /// `+` or `-`, `/` or `_`, with any padding or none: whatever some decoder would take.
        case any
    }

    /// The octets that the characters of `lines` in `text` encode, for the caller to wipe. Blanks and tabs count for nothing.
    ///
    /// - Returns: `nil` for what is no base64 in that spelling.
    static func decode(
        _ text: [UInt8], lines: ArraySlice<Range<Int>>, spelling: Spelling
    ) -> [UInt8]? {
        let capacity = lines.reduce(0) { $0 + $1.count } / 4 * 3 + 3
        var isGood = false
        var octets = [UInt8](unsafeUninitializedCapacity: capacity) { room, count in
            isGood = decode(text, lines, spelling, into: room, &count)
        }
        guard isGood else {
            wipe(&octets)
            return nil
        }
        return octets
    }

    private static func decode(
        _ text: [UInt8], _ lines: ArraySlice<Range<Int>>, _ spelling: Spelling,
        into room: UnsafeMutableBufferPointer<UInt8>, _ count: inout Int
    ) -> Bool {
        var accumulator: UInt32 = 0
        var pendingBits = 0
        var characters = 0
        var padding = 0
        for line in lines {
            for place in line where text[place] != 0x20 && text[place] != 0x09 {
                characters += 1
                if text[place] == UInt8(ascii: "=") {
                    padding += 1
                    continue
                }
                guard padding == 0, let value = value(of: text[place], spelling) else {
                    return false
                }
                accumulator = accumulator << 6 | UInt32(value)
                pendingBits += 6
                if pendingBits >= 8 {
                    pendingBits -= 8
                    room[count] = UInt8(truncatingIfNeeded: accumulator >> pendingBits)
                    count += 1
                }
            }
        }
        return spelling == .any || (padding <= 2 && characters % 4 == 0)
    }

    private static func value(of character: UInt8, _ spelling: Spelling) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        case UInt8(ascii: "-") where spelling == .any: 62
        case UInt8(ascii: "_") where spelling == .any: 63
        default: nil
        }
    }
}
