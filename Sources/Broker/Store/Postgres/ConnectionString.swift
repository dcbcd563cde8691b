/// What a connection string must be besides readable for libpq, which takes a password with a special character that is not
/// percent-encoded for hosts, ports and databases, and shows those in its messages, and has the server show them in its.
enum ConnectionString {
    /// Whether a URI has an `@` where none can be: after the one that ends user and password, or in the name of the database.
    static func hasStrayAt(_ conninfo: String) -> Bool {
        let schemes = ["postgresql://", "postgres://"]
        guard let scheme = schemes.first(where: { conninfo.utf8.starts(with: $0.utf8) }) else {
            return false
        }
        let at = UInt8(ascii: "@")
        let rest = conninfo.utf8.dropFirst(scheme.utf8.count)
        // libpq looks for the end of user and password in the same way.
        let end = rest.firstIndex { $0 == at || $0 == UInt8(ascii: "/") } ?? rest.endIndex
        var place = rest[end...]
        if place.first == at { place = place.dropFirst() }
        return place.prefix { $0 != UInt8(ascii: "?") }.contains(at)
    }

    /// Whether a setting can have this value. Settings that are not looked at here libpq looks at itself.
    static func isGood(_ value: String, for keyword: String) -> Bool {
        switch keyword {
        case "host": entries(value).allSatisfy(isHost)
        case "hostaddr": entries(value).allSatisfy { $0.utf8.allSatisfy(isNameOctet) }
        case "port": entries(value).allSatisfy { $0.isEmpty || isInteger($0, in: 1...65_535) }
        case "connect_timeout", "keepalives", "keepalives_idle", "keepalives_interval",
            "keepalives_count", "tcp_user_timeout":
            value.isEmpty || isInteger(value[...], in: Int32.min...Int32.max)
        default: true
        }
    }

    private static func entries(_ value: String) -> [Substring] {
        value.split(separator: ",", omittingEmptySubsequences: false)
    }

    /// A name, an address or, from its first character on, a Unix socket's path or abstract name.
    private static func isHost(_ host: Substring) -> Bool {
        host.hasPrefix("/") || host.hasPrefix("@") || host.utf8.allSatisfy(isNameOctet)
    }

    /// Those of names, IPv4 and IPv6 addresses, and of the zone of the latter.
    private static func isNameOctet(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._:%".utf8.contains(octet)
        }
    }

    /// With blanks around it, as libpq takes it.
    private static func isInteger(_ text: Substring, in range: ClosedRange<Int32>) -> Bool {
        let digits = text.split(separator: " ", omittingEmptySubsequences: true)
        guard digits.count == 1, let value = Int32(digits[0]) else { return false }
        return range.contains(value)
    }
}
