import JOSE

/// Just enough DER to write EC keys in every form, with and without the optional parts.
enum DER {
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        // Every element here is shorter than 256 octets.
        let length =
            content.count < 128 ? [UInt8(content.count)] : [0x81, UInt8(content.count)]
        return [tag] + length + content
    }

    static func sequence(_ elements: [UInt8]...) -> [UInt8] {
        element(0x30, elements.flatMap(\.self))
    }

    private static let ecPublicKey: [UInt8] = [
        0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01,
    ]
    private static let p256: [UInt8] = [0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]

    /// RFC 5915: the scalar, the curve, and the point when there is one.
    static func sec1(scalar: [UInt8], point: [UInt8]?, namesCurve: Bool = true) -> [UInt8] {
        sequence(
            [0x02, 0x01, 0x01], element(0x04, scalar), namesCurve ? element(0xa0, p256) : [],
            point.map { element(0xa1, element(0x03, [0] + $0)) } ?? [])
    }

    /// RFC 5208 around RFC 5915.
    static func pkcs8(scalar: [UInt8], point: [UInt8]?) -> [UInt8] {
        sequence(
            [0x02, 0x01, 0x00], sequence(ecPublicKey, p256),
            element(0x04, sec1(scalar: scalar, point: point, namesCurve: false)))
    }

    /// RFC 3279 §2.2.3: the two numbers of a signature `r ‖ s`.
    static func ecdsa(_ signature: [UInt8]) -> [UInt8] {
        let number = { (octets: ArraySlice<UInt8>) in
            let minimal = octets.drop { $0 == 0 }
            return element(0x02, ((minimal.first ?? 0x80) >= 0x80 ? [0] : []) + minimal)
        }
        return sequence(number(signature.prefix(32)), number(signature.suffix(32)))
    }

    /// RFC 7468 armour.
    static func pem(_ label: String, _ der: [UInt8]) -> String {
        let text = Array(
            Base64URL.encode(der).replacing("-", with: "+").replacing("_", with: "/"))
        let padded = text + Array(repeating: Character("="), count: (4 - text.count % 4) % 4)
        let lines = stride(from: 0, to: padded.count, by: 64).map {
            String(padded[$0..<min($0 + 64, padded.count)])
        }
        return
            "-----BEGIN \(label)-----\n\(lines.joined(separator: "\n"))\n-----END \(label)-----\n"
    }
}
