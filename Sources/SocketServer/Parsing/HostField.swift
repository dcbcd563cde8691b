internal import Glibc

/// The `host[:port]` of a `Host` field or an absolute-form target.
enum HostField {
    /// A name of the DNS has 253 octets at most (RFC 1035 §2.3.4); a colon and five digits may follow.
    private static let maximumLength = 253 + 6

    /// Whether the host is a name, an IPv4 address or a bracketed IPv6 address, and the port a number below 65536.
    ///
    /// Narrower than RFC 3986's `reg-name`: of its octets only those of real host names are taken, so that user
    /// information, lists and escapes are refused.
    static func isValid(_ octets: Slice<Octets>) -> Bool {
        guard let first = octets.first, octets.count <= maximumLength else { return false }
        let hostEnd: Int
        if first == UInt8(ascii: "[") {
            guard let close = octets.firstIndex(of: UInt8(ascii: "]")),
                isIPv6(octets[(octets.startIndex + 1)..<close])
            else { return false }
            hostEnd = close + 1
        } else {
            hostEnd = octets.firstIndex(of: UInt8(ascii: ":")) ?? octets.endIndex
            guard hostEnd > octets.startIndex,
                octets[..<hostEnd].allSatisfy({
                    $0.isAlphanumeric || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
                        || $0 == UInt8(ascii: "_")
                })
            else { return false }
        }
        guard hostEnd < octets.endIndex else { return true }
        return octets[hostEnd] == UInt8(ascii: ":") && isPort(octets[(hostEnd + 1)...])
    }

    /// The host of a valid `host[:port]`, in lower case and without port.
    static func host(of authority: String) -> String {
        let octets = authority.utf8
        let host =
            octets.first == UInt8(ascii: "[")
            ? octets.firstIndex(of: UInt8(ascii: "]")).map { octets[...$0] } ?? octets[...]
            : octets.prefix { $0 != UInt8(ascii: ":") }
        return String(Substring(host)).lowercased()
    }

    /// RFC 3986 §3.2.3 lets a port be empty.
    private static func isPort(_ octets: Slice<Octets>) -> Bool {
        guard octets.count <= 5 else { return false }
        var port = 0
        for octet in octets {
            guard octet.isDigit else { return false }
            port = port * 10 + Int(octet - 0x30)
        }
        return port < 65536
    }

    private static func isIPv6(_ octets: Slice<Octets>) -> Bool {
        guard octets.allSatisfy({ $0.hexValue != nil || $0 == 0x3A || $0 == 0x2E }) else {
            return false
        }
        var address = in6_addr()
        return inet_pton(AF_INET6, String(decoding: octets, as: UTF8.self), &address) == 1
    }
}
