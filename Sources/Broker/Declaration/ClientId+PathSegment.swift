import AssertionMint

extension ClientId {
    /// Whether a URL can have it as one segment of its path: only then can its key set be fetched.
    ///
    /// `.` and `..` lead elsewhere, with `%2E` too (RFC 3986 §5.2.4, §6.2.2.2), so clients and proxies remove them. Between
    /// `%2F` and `%5C` they are refused by our own server, since not everybody in front of it takes those for one segment.
    var fitsPathSegment: Bool {
        !rawValue.utf8
            .split(omittingEmptySubsequences: false) {
                $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\")
            }
            .contains { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }
    }

    /// It as one segment of a URL's path: everything but unreserved characters percent-encoded (RFC 3986 §2.1, §2.3).
    var pathSegment: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var octets: [UInt8] = []
        for octet in rawValue.utf8 {
            switch octet {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                octets.append(octet)
            default:
                octets += [
                    UInt8(ascii: "%"), digits[Int(octet >> 4)], digits[Int(octet & 15)],
                ]
            }
        }
        return String(decoding: octets, as: UTF8.self)
    }
}
