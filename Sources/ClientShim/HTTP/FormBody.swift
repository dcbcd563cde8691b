/// An `application/x-www-form-urlencoded` body (RFC 6749 Appendix B), parameters in order.
struct FormBody: Sendable {
    private(set) var bytes: [UInt8] = []

    static let contentType = "application/x-www-form-urlencoded"

    /// Adds a parameter; `nil` adds nothing.
    mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
        encode(name)
        bytes.append(UInt8(ascii: "="))
        encode(value)
    }

    private mutating func encode(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "*"):
                bytes.append(byte)
            case UInt8(ascii: " "):
                bytes.append(UInt8(ascii: "+"))
            default:
                bytes.append(UInt8(ascii: "%"))
                bytes.append(Self.digits[Int(byte >> 4)])
                bytes.append(Self.digits[Int(byte & 15)])
            }
        }
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}
