/// Base64url without padding, one spelling for each octet string (RFC 7515 §2, RFC 4648 §5).
public enum Base64URL {
    /// The text of `bytes`, without padding.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the text of `bytes` to `text`, for callers that build a whole JWS in one buffer.
    public static func append(_ bytes: some Collection<UInt8>, to text: inout [UInt8]) {
        text.reserveCapacity(text.count + (bytes.count * 4 + 2) / 3)
        var accumulator: UInt32 = 0
        var pendingBits = 0
        for byte in bytes {
            accumulator = accumulator << 8 | UInt32(byte)
            pendingBits += 8
            while pendingBits >= 6 {
                pendingBits -= 6
                text.append(alphabet[Int(accumulator >> pendingBits & 0x3f)])
            }
        }
        if pendingBits > 0 {
            text.append(alphabet[Int(accumulator << (6 - pendingBits) & 0x3f)])
        }
    }

    /// The octets of `text`, or `nil` for anything no encoder produces: `+`, `/`, `=`, white space,
    /// a length of 1 mod 4, or stray bits in the last character.
    public static func decode(_ text: String) -> [UInt8]? {
        decode(text.utf8)
    }

    /// The octets of `text`, or `nil`, as for a `String`.
    public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var accumulator: UInt32 = 0
        var pendingBits = 0
        for character in text {
            let value = values[Int(character)]
            guard value != invalid else { return nil }
            accumulator = accumulator << 6 | UInt32(value)
            pendingBits += 6
            if pendingBits >= 8 {
                pendingBits -= 8
                bytes.append(UInt8(truncatingIfNeeded: accumulator >> pendingBits))
            }
        }
        guard accumulator & (1 << pendingBits - 1) == 0 else { return nil }
        return bytes
    }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let invalid: UInt8 = 0xff
    private static let values: [UInt8] = {
        var table = [UInt8](repeating: invalid, count: 256)
        for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
        return table
    }()
}
