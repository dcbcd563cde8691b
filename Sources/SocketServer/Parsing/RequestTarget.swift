/// A request target in one of the forms of RFC 9112 §3.2, with its octets checked against RFC 3986.
struct RequestTarget {
    /// Starts with `/`, or is `*`.
    let path: String
    let query: String?
    /// The authority of an absolute-form target, `nil` for the other forms.
    let authority: String?

    init(_ target: Slice<Octets>, method: String) throws(HTTPRejection) {
        if method == "CONNECT" { throw .tunnelRefused }
        if target.elementsEqual("*".utf8) {
            guard method == "OPTIONS" else { throw .malformedTarget }
            (path, query, authority) = ("*", nil, nil)
            return
        }
        var pathAndQuery = target
        if target.first == UInt8(ascii: "/") {
            authority = nil
        } else {
            let afterScheme = try Self.endOfScheme(target)
            let rest = target[afterScheme...]
            let end =
                rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
                ?? rest.endIndex
            guard HostField.isValid(rest[..<end]) else { throw .malformedTarget }
            authority = String(decoding: rest[..<end], as: UTF8.self)
            pathAndQuery = rest[end...]
        }
        let mark = pathAndQuery.firstIndex(of: UInt8(ascii: "?")) ?? pathAndQuery.endIndex
        let pathOctets = pathAndQuery[..<mark]
        guard Self.hasLegalOctets(pathAndQuery), !Self.hasDotSegment(pathOctets) else {
            throw .malformedTarget
        }
        path = pathOctets.isEmpty ? "/" : String(decoding: pathOctets, as: UTF8.self)
        query =
            mark == pathAndQuery.endIndex
            ? nil : String(decoding: pathAndQuery[(mark + 1)...], as: UTF8.self)
    }

    private static func endOfScheme(_ target: Slice<Octets>) throws(HTTPRejection) -> Int {
        if target.prefix(8).equals(lowercase: "https://") { return target.startIndex + 8 }
        if target.prefix(7).equals(lowercase: "http://") { return target.startIndex + 7 }
        throw .malformedTarget
    }

    /// Every octet is one of RFC 3986's, every `%` has its two digits, and none of them spells NUL.
    private static func hasLegalOctets(_ octets: Slice<Octets>) -> Bool {
        var index = octets.startIndex
        while index < octets.endIndex {
            if octets[index] == UInt8(ascii: "%") {
                guard index + 2 < octets.endIndex, let high = octets[index + 1].hexValue,
                    let low = octets[index + 2].hexValue, high != 0 || low != 0
                else { return false }
                index += 3
            } else {
                guard octets[index].isTargetOctet else { return false }
                index += 1
            }
        }
        return true
    }

    /// Whether a segment is `.` or `..`, plainly or as `%2e`. Clients remove them before they send (RFC 3986
    /// §5.2.4); one that arrives is an attempt to be read as another path by someone in front of us.
    private static func hasDotSegment(_ path: Slice<Octets>) -> Bool {
        // A slash or a backslash in disguise would end the segment too for a lenient reader behind us.
        var dots = 0
        var others = 0
        var index = path.startIndex
        while index < path.endIndex {
            let octet: UInt8
            if path[index] == UInt8(ascii: "%"), index + 2 < path.endIndex,
                let high = path[index + 1].hexValue, let low = path[index + 2].hexValue
            {
                octet = high << 4 | low
                index += 3
            } else {
                octet = path[index]
                index += 1
            }
            switch octet {
            case UInt8(ascii: "/"), UInt8(ascii: "\\"):
                if others == 0, (1...2).contains(dots) { return true }
                (dots, others) = (0, 0)
            case UInt8(ascii: "."): dots += 1
            default: others += 1
            }
        }
        return others == 0 && (1...2).contains(dots)
    }
}
