internal import Glibc

/// A literal IPv4 or IPv6 address with a port, or a Unix socket's path, in the kernel's form.
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

    init(_ path: UnixSocketPath) {
        var unix = sockaddr_un()
        unix.sun_family = sa_family_t(AF_UNIX)
        // `UnixSocketPath` leaves room for the NUL at the end.
        withUnsafeMutableBytes(of: &unix.sun_path) { $0.copyBytes(from: path.description.utf8) }
        store(unix)
    }

    var family: Int32 { Int32(storage.ss_family) }

    var port: UInt16 {
        switch family {
        case AF_INET: load(sockaddr_in.self).sin_port.byteSwapped
        case AF_INET6: load(sockaddr_in6.self).sin6_port.byteSwapped
        default: 0
        }
    }

    /// The path of a Unix socket; an abstract name with `@` for its NUL (`unix(7)`). Empty for an unnamed one.
    var path: String {
        let name = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        guard family == AF_UNIX, Int(length) > name else { return "" }
        return withUnsafeBytes(of: storage) { bytes in
            let octets = bytes[name..<min(Int(length), bytes.count)]
            guard octets.first == 0 else {
                return String(decoding: octets.prefix { $0 != 0 }, as: UTF8.self)
            }
            return "@" + String(decoding: octets.dropFirst(), as: UTF8.self)
        }
    }

    /// What a server bound to this address listens on.
    var listening: ListeningAddress {
        family == AF_UNIX ? .unix(path: path) : .tcp(remote, port: port)
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
        default: return .unix
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
