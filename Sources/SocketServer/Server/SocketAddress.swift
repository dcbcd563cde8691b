internal import Glibc

/// A literal IPv4 or IPv6 address with a port, in the kernel's form.
struct SocketAddress {
    private var storage = sockaddr_storage()
    private var length: socklen_t = 0

    init() {}

    /// - Parameter address: a literal address; names are not looked up.
    init?(_ address: String, port: UInt16) {
        var v4 = sockaddr_in()
        var v6 = sockaddr_in6()
        if inet_pton(AF_INET, address, &v4.sin_addr) == 1 {
            v4.sin_family = sa_family_t(AF_INET)
            v4.sin_port = port.bigEndian
            store(v4)
        } else if inet_pton(AF_INET6, address, &v6.sin6_addr) == 1 {
            v6.sin6_family = sa_family_t(AF_INET6)
            v6.sin6_port = port.bigEndian
            store(v6)
        } else {
            return nil
        }
    }

    var family: Int32 { Int32(storage.ss_family) }

    var port: UInt16 {
        switch family {
        case AF_INET: load(sockaddr_in.self).sin_port.byteSwapped
        case AF_INET6: load(sockaddr_in6.self).sin6_port.byteSwapped
        default: 0
        }
    }

    /// The address without port, an IPv4 one in IPv6 clothes as IPv4.
    var remote: RemoteAddress {
        switch family {
        case AF_INET:
            return withUnsafeBytes(of: load(sockaddr_in.self).sin_addr) {
                RemoteAddress(octets: Array($0))
            }
        case AF_INET6:
            let octets = withUnsafeBytes(of: load(sockaddr_in6.self).sin6_addr) { Array($0) }
            let isMapped =
                octets[..<10].allSatisfy { $0 == 0 } && octets[10...11].allSatisfy { $0 == 0xFF }
            return RemoteAddress(octets: isMapped ? Array(octets[12...]) : octets)
        default: return RemoteAddress(octets: [])
        }
    }

    func withPointer<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// Lends room for the kernel to write an address into.
    mutating func fill<R>(
        _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> R
    ) -> R {
        length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &length) }
        }
    }

    private mutating func store<Address>(_ address: Address) {
        length = socklen_t(MemoryLayout<Address>.size)
        withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: address, as: Address.self) }
    }

    private func load<Address>(_ type: Address.Type) -> Address {
        withUnsafeBytes(of: storage) { $0.loadUnaligned(as: type) }
    }
}
