/// Base64url without padding, one spelling for each octet string (RFC 7515 §2, RFC 4648 §5).
public enum Base64URL {
    /// The text of `bytes`, without padding.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        withOctets(of: bytes) { source in
            String(unsafeUninitializedCapacity: encodedLength(source.count)) {
                encode(source, into: $0)
            }
        }
    }

    /// Appends the text of `bytes` to `text`, for callers that build a whole JWS in one buffer.
    public static func append(_ bytes: some Collection<UInt8>, to text: inout [UInt8]) {
        withOctets(of: bytes) { source in
            withUnsafeTemporaryAllocation(
                of: UInt8.self, capacity: encodedLength(source.count)
            ) { room in
                let length = encode(source, into: room)
                text.append(contentsOf: UnsafeBufferPointer(rebasing: room[..<length]))
            }
        }
    }

    /// The octets of `text`, or `nil` for anything no encoder produces: `+`, `/`, `=`, white space,
    /// a length of 1 mod 4, or stray bits in the last character.
    public static func decode(_ text: String) -> [UInt8]? {
        decode(text.utf8)
    }

    /// The octets of `text`, or `nil`, as for a `String`.
    public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        withOctets(of: text) { characters in
            guard characters.count % 4 != 1 else { return nil }
            var isGood = true
            let bytes = [UInt8](unsafeUninitializedCapacity: characters.count * 3 / 4) {
                room, count in
                isGood = decode(characters, into: room, &count)
            }
            return isGood ? bytes : nil
        }
    }

    private static func decode(
        _ text: UnsafeBufferPointer<UInt8>, into room: UnsafeMutableBufferPointer<UInt8>,
        _ count: inout Int
    ) -> Bool {
        var accumulator: UInt32 = 0
        var pendingBits = 0
        for character in text {
            guard let value = value(of: character) else { return false }
            accumulator = accumulator << 6 | UInt32(value)
            pendingBits += 6
            if pendingBits >= 8 {
                pendingBits -= 8
                room[count] = UInt8(truncatingIfNeeded: accumulator >> pendingBits)
                count += 1
            }
        }
        return accumulator & (1 << pendingBits - 1) == 0
    }

    private static func encodedLength(_ count: Int) -> Int { (count * 4 + 2) / 3 }

    /// - Returns: how many characters were written.
    @discardableResult
    private static func encode(
        _ source: UnsafeBufferPointer<UInt8>, into room: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        let alphabet = self.alphabet.utf8Start
        var index = 0
        var place = 0
        while index + 3 <= source.count {
            let group =
                UInt32(source[index]) << 16 | UInt32(source[index + 1]) << 8
                | UInt32(source[index + 2])
            room[place] = alphabet[Int(group >> 18)]
            room[place + 1] = alphabet[Int(group >> 12 & 0x3f)]
            room[place + 2] = alphabet[Int(group >> 6 & 0x3f)]
            room[place + 3] = alphabet[Int(group & 0x3f)]
            index += 3
            place += 4
        }
        let left = source.count - index
        if left > 0 {
            let group = UInt32(source[index]) << 8 | (left == 2 ? UInt32(source[index + 1]) : 0)
            room[place] = alphabet[Int(group >> 10)]
            room[place + 1] = alphabet[Int(group >> 4 & 0x3f)]
            if left == 2 { room[place + 2] = alphabet[Int(group << 2 & 0x3f)] }
            place += left + 1
        }
        return place
    }

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }

    /// Lends the octets where they lie; a collection without storage of its own is copied.
    private static func withOctets<R>(
        of bytes: some Collection<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> R
    ) -> R {
        bytes.withContiguousStorageIfAvailable(body) ?? Array(bytes).withUnsafeBufferPointer(body)
    }

    private static let alphabet: StaticString =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
}
