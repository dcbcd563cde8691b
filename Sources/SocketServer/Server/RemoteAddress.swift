internal import Glibc

/// A peer's IP address, without port.
public struct RemoteAddress: Sendable, Hashable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64
    private let isIPv4: Bool

    /// 127.0.0.1.
    public static let loopback = RemoteAddress(octets: [127, 0, 0, 1])

    /// - Parameter octets: four or sixteen in network order; any other number reads as `::`.
    init(octets: [UInt8]) {
        func number(_ octets: ArraySlice<UInt8>) -> UInt64 {
            octets.reduce(0) { $0 << 8 | UInt64($1) }
        }
        isIPv4 = octets.count == 4
        high = octets.count == 16 ? number(octets[..<8]) : 0
        low = octets.count == 16 ? number(octets[8...]) : isIPv4 ? number(octets[...]) : 0
    }

    private init(high: UInt64, low: UInt64, isIPv4: Bool) {
        (self.high, self.low, self.isIPv4) = (high, low, isIPv4)
    }

    /// Parses a literal address; `nil` for anything else.
    public init?(_ text: String) {
        guard let address = SocketAddress(text, port: 0) else { return nil }
        self = address.remote
    }

    /// What limits are counted by: an IPv4 address itself, an IPv6 address's /64, since one host owns all of that.
    public var network: RemoteAddress {
        isIPv4 ? self : RemoteAddress(high: high, low: 0, isIPv4: false)
    }

    /// Whether only this machine can have the address: 127.0.0.0/8 or `::1`.
    public var isLoopback: Bool {
        isIPv4 ? low >> 24 == 127 : high == 0 && low == 1
    }

    /// The usual text form, such as `192.0.2.7` or `2001:db8::1` (RFC 5952).
    public var description: String {
        if isIPv4 {
            return "\(low >> 24 & 255).\(low >> 16 & 255).\(low >> 8 & 255).\(low & 255)"
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
}
