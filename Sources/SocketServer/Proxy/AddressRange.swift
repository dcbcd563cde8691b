/// A range of IP addresses in CIDR form, such as `10.0.0.0/8` or `2001:db8::/32`; an address alone is a range of one.
public struct AddressRange: Sendable, Hashable, CustomStringConvertible {
    private let first: [UInt8]
    private let prefixLength: Int

    /// `nil` for what is no CIDR range, and for what is most likely a mistake: a range with bits set behind its prefix, the
    /// range of every address, and an IPv4 range in IPv6 clothes, since peers are compared as IPv4.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        // An IPv4 address in IPv6 clothes reads as IPv4, but not with the prefix length it was given.
        guard let address = RemoteAddress(String(parts[0])),
            address.isIPv6 || !parts[0].contains(":")
        else { return nil }
        first = address.octets
        let width = first.count * 8
        guard parts.count == 2 else {
            prefixLength = width
            return
        }
        guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy(\.isDigit),
            parts[1].utf8.count == 1 || parts[1].utf8.first != UInt8(ascii: "0"),
            let length = Int(parts[1]), (1...width).contains(length)
        else { return nil }
        prefixLength = length
        guard Self.isZero(first, behind: length) else { return nil }
    }

    /// Whether the address lies in the range; one of the other family never does.
    public func contains(_ address: RemoteAddress) -> Bool {
        let octets = address.octets
        guard octets.count == first.count else { return false }
        return Self.isZero(zip(octets, first).map { $0 ^ $1 }, before: prefixLength)
    }

    /// As it is written in a configuration.
    public var description: String { "\(RemoteAddress(octets: first))/\(prefixLength)" }

    private static func isZero(_ octets: [UInt8], behind length: Int) -> Bool {
        octets.indices.allSatisfy { index in
            let kept = min(max(length - index * 8, 0), 8)
            return octets[index] & (0xFF >> UInt8(kept)) == 0
        }
    }

    private static func isZero(_ octets: [UInt8], before length: Int) -> Bool {
        octets.indices.allSatisfy { index in
            let kept = min(max(length - index * 8, 0), 8)
            return octets[index] & ~(0xFF >> UInt8(kept)) == 0
        }
    }
}
