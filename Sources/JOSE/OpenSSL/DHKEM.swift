/// DHKEM(P-256, HKDF-SHA256), the key encapsulation of HPKE (RFC 9180 §4.1), apart from the curve's own arithmetic.
enum DHKEM {
    /// Octets of an encapsulated key: an uncompressed point.
    static let encapsulatedLength = 65
    /// Octets of a secret key and of the shared secret.
    static let secretLength = 32

    /// `"KEM"` and the algorithm's number (§7.1).
    private static let suite = Array("KEM".utf8) + [0x00, 0x10]
    private static let version = Array("HPKE-v1".utf8)

    /// The order of P-256, big-endian.
    private static let order: [UInt8] = [
        0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63,
        0x25, 0x51,
    ]

    /// The secret key that a seed stands for, big-endian (`DeriveKeyPair`, §7.1.3); `nil` for a seed that stands for none,
    /// which happens once in 2^8192 seeds.
    static func secretKey(from seed: [UInt8]) -> [UInt8]? {
        let key = extract(label: "dkp_prk", seed)
        for counter in UInt8.min ... .max {
            let candidate = expand(key, label: "candidate", [counter])
            if candidate.contains(where: { $0 != 0 }),
                candidate.lexicographicallyPrecedes(order)
            {
                return candidate
            }
        }
        return nil
    }

    /// The shared secret (`ExtractAndExpand`, §4.1).
    ///
    /// - Parameters:
    ///   - agreed: the x coordinate that both sides computed.
    ///   - encapsulated: the sender's ephemeral point, as it came.
    ///   - recipient: the recipient's point.
    static func sharedSecret(
        agreed: [UInt8], encapsulated: [UInt8], recipient: [UInt8]
    ) -> [UInt8] {
        expand(
            extract(label: "eae_prk", agreed), label: "shared_secret", encapsulated + recipient)
    }

    /// `LabeledExtract` without a salt (§4).
    private static func extract(label: String, _ secret: [UInt8]) -> [UInt8] {
        HKDF.extract(salt: [], from: version + suite + Array(label.utf8) + secret)
    }

    /// `LabeledExpand` to 32 octets (§4).
    private static func expand(_ key: [UInt8], label: String, _ info: [UInt8]) -> [UInt8] {
        let length: [UInt8] = [0, UInt8(secretLength)]
        return HKDF.expand(
            key, info: length + version + suite + Array(label.utf8) + info, count: secretLength)
    }
}
