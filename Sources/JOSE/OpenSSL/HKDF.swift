/// HKDF over HMAC-SHA-256 (RFC 5869): many keys from one secret.
public enum HKDF {
    /// Step 1: a key of 32 octets from input that need not be uniform (§2.2).
    public static func extract(salt: [UInt8], from secret: [UInt8]) -> [UInt8] {
        SHA256.authenticationCode(of: secret, key: salt)
    }

    /// Step 2: `count` octets for the purpose that `info` names (§2.3).
    ///
    /// - Parameters:
    ///   - key: 32 octets at least, as `extract` gives them or uniform.
    ///   - count: 8160 at most.
    public static func expand(_ key: [UInt8], info: [UInt8], count: Int) -> [UInt8] {
        precondition((0...255 * SHA256.length).contains(count), "RFC 5869 §2.3 gives no more")
        var output: [UInt8] = []
        var block: [UInt8] = []
        var counter: UInt8 = 0
        while output.count < count {
            counter += 1
            block = SHA256.authenticationCode(of: block + info + [counter], key: key)
            output += block
        }
        return Array(output.prefix(count))
    }
}
