internal import Glibc

/// A peer's IP address, without port; or that the peer is a process of this machine behind a Unix socket.
public struct RemoteAddress: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: Sendable, Hashable { case ipv4, ipv6, unix }

    private let high: UInt64
    private let low: UInt64
    private let kind: Kind

    /// 127.0.0.1.
    public static let loopback = RemoteAddress(octets: [127, 0, 0, 1])

    /// A peer on a Unix socket: it has no address.
    public static let unix = RemoteAddress(high: 0, low: 0, kind: .unix)

    /// - Parameter octets: four or sixteen in network order; any other number reads as `::`.
    init(octets: [UInt8]) {
        func number(_ octets: ArraySlice<UInt8>) -> UInt64 {
            octets.reduce(0) { $0 << 8 | UInt64($1) }
        }
        kind = octets.count == 4 ? .ipv4 : .ipv6
        high = octets.count == 16 ? number(octets[..<8]) : 0
        low =
            octets.count == 16 ? number(octets[8...]) : octets.count == 4 ? number(octets[...]) : 0
    }

    private init(high: UInt64, low: UInt64, kind: Kind) {
        (self.high, self.low, self.kind) = (high, low, kind)
    }

    /// Parses a literal address; `nil` for anything else.
    public init?(_ text: String) {
        guard let address = SocketAddress(text, port: 0) else { return nil }
        self = address.remote
    }

    /// What limits are counted by: an IPv4 address itself, an IPv6 address's /64, since one host owns all of that.
    public var network: RemoteAddress {
        kind == .ipv6 ? RemoteAddress(high: high, low: 0, kind: .ipv6) : self
    }

    /// Whether only this machine can have the address: 127.0.0.0/8, `::1`, or a Unix socket.
    public var isLoopback: Bool {
        switch kind {
        case .ipv4: low >> 24 == 127
        case .ipv6: high == 0 && low == 1
        case .unix: true
        }
    }

    var isIPv6: Bool { kind == .ipv6 }

    /// The octets in network order, four or sixteen; none for a Unix socket.
    var octets: [UInt8] {
        func octets(_ number: UInt64) -> [UInt8] {
            withUnsafeBytes(of: number.bigEndian, Array.init)
        }
        return switch kind {
        case .ipv4: Array(octets(low)[4...])
        case .ipv6: octets(high) + octets(low)
        case .unix: []
        }
    }

    /// The usual text form, such as `192.0.2.7` or `2001:db8::1` (RFC 5952); `unix` for a Unix socket.
    public var description: String {
        switch kind {
        case .unix: return "unix"
        case .ipv4: return dottedDecimal
        case .ipv6: break
        }
        var address = (high.bigEndian, low.bigEndian)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) {
            text in
            guard
                let text = inet_ntop(
                    AF_INET6, &address, text.baseAddress, socklen_t(INET6_ADDRSTRLEN))
            else { return "::" }
            return String(cString: text)
        }
    }

    /// At most 15 octets, so that the string needs no memory of its own.
    private var dottedDecimal: String {
        String(unsafeUninitializedCapacity: 15) { text in
            var place = 0
            func write(_ value: UInt8) {
                text[place] = value
                place += 1
            }
            for shift: UInt64 in [24, 16, 8, 0] {
                let octet = UInt8(truncatingIfNeeded: low >> shift)
                if octet >= 100 { write(UInt8(ascii: "0") + octet / 100) }
                if octet >= 10 { write(UInt8(ascii: "0") + octet / 10 % 10) }
                write(UInt8(ascii: "0") + octet % 10)
                if shift > 0 { write(UInt8(ascii: ".")) }
            }
            return place
        }
    }
}
