/// Where a server gets its connections from.
public enum ListeningEndpoint: Sendable, Equatable {
    /// A literal IPv4 or IPv6 address and a port; port 0 takes a free one, which `HTTPServer.port` then tells.
    case tcp(address: String, port: UInt16)
    /// A socket file, made with this mode when the server is made and removed when it stops. A file that a dead server
    /// left behind is replaced; one that a living server listens on, and any other kind of file, is refused.
    case unix(UnixSocketPath, mode: FileMode)
    /// A stream socket that somebody else bound and listens on, such as systemd (`sd_listen_fds(3)`). The server takes
    /// the descriptor over when `HTTPServer.init` succeeds, and only closes it at the end: what waits in its backlog then is
    /// the next process's.
    case inherited(descriptor: Int32)
}

/// What a server listens on, as the kernel tells it.
public enum ListeningAddress: Sendable, Equatable, CustomStringConvertible {
    /// An address and port.
    case tcp(RemoteAddress, port: UInt16)
    /// The path of a socket file; for an inherited socket perhaps an abstract name, which starts with `@` here.
    case unix(path: String)

    /// For logs: `127.0.0.1:8080`, `[::1]:8080`, `unix:/run/broker.sock`.
    public var description: String {
        switch self {
        case .tcp(let address, let port):
            address.isIPv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// Whether only processes of this machine can connect.
    var isLocal: Bool {
        switch self {
        case .tcp(let address, _): address.isLoopback
        case .unix: true
        }
    }
}
