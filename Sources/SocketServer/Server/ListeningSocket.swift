internal import CEpoll
internal import Glibc

/// A bound and listening stream socket.
struct ListeningSocket {
    let descriptor: Int32
    let address: ListeningAddress
    /// The socket file this server made and has to remove.
    let file: UnixSocketFile?
    /// Whether another process may go on with the same socket: its backlog is then left alone at the end.
    let isShared: Bool

    /// - Parameter allows: whether plain or encrypted, this server may be reached there; asked before anything listens.
    init(
        _ endpoint: ListeningEndpoint, backlog: Int32, allows: (ListeningAddress) -> Bool
    ) throws(ServerError) {
        switch endpoint {
        case .tcp(let text, let port):
            guard let address = RemoteAddress(text) else { throw .invalidAddress(text) }
            guard allows(.tcp(address, port: port)) else {
                throw .plainHTTPOffLoopback(address: text)
            }
            try self.init(address: text, port: port, backlog: backlog)
        case .unix(let path, let mode): try self.init(path, mode: mode, backlog: backlog)
        case .inherited(let descriptor):
            try self.init(inherited: descriptor)
            guard allows(address) else {
                throw .plainHTTPOffLoopback(address: address.description)
            }
        }
    }

    private init(address: String, port: UInt16, backlog: Int32) throws(ServerError) {
        guard let wanted = SocketAddress(address, port: port) else {
            throw .invalidAddress(address)
        }
        let descriptor = socket(wanted.family, Self.streamType, 0)
        guard descriptor >= 0 else { throw .systemCall("socket", reason: errorText(errno)) }
        // A restart must not wait for the old connections' TIME_WAIT.
        Self.setOption(SO_REUSEADDR, level: SOL_SOCKET, of: descriptor)
        Self.setRules(of: descriptor)
        guard wanted.withPointer({ bind(descriptor, $0, $1) }) == 0,
            listen(descriptor, backlog) == 0
        else {
            let reason = errorText(errno)
            close(descriptor)
            throw .cannotListen(address: address, port: port, reason: reason)
        }
        var bound = SocketAddress()
        guard bound.fill({ getsockname(descriptor, $0, $1) }) == 0 else {
            let reason = errorText(errno)
            close(descriptor)
            throw .systemCall("getsockname", reason: reason)
        }
        self.descriptor = descriptor
        self.address = bound.listening
        file = nil
        isShared = false
    }

    private init(
        _ path: UnixSocketPath, mode: FileMode, backlog: Int32
    ) throws(ServerError) {
        let descriptor = socket(AF_UNIX, Self.streamType, 0)
        guard descriptor >= 0 else { throw .systemCall("socket", reason: errorText(errno)) }
        do throws(ServerError) {
            file = try UnixSocketFile(
                at: path, mode: mode, listening: descriptor, backlog: backlog)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        address = .unix(path: path.description)
        isShared = false
    }

    private init(inherited descriptor: Int32) throws(ServerError) {
        func option(_ name: Int32) throws(ServerError) -> Int32 {
            var value: Int32 = 0
            var size = socklen_t(MemoryLayout.size(ofValue: value))
            guard getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 else {
                throw .unusableDescriptor(descriptor, reason: errorText(errno))
            }
            return value
        }
        guard try option(SO_TYPE) == Int32(SOCK_STREAM.rawValue) else {
            throw .unusableDescriptor(descriptor, reason: "it is no stream socket")
        }
        guard try option(SO_ACCEPTCONN) == 1 else {
            throw .unusableDescriptor(descriptor, reason: "nothing listens on it")
        }
        let family = try option(SO_DOMAIN)
        guard [AF_INET, AF_INET6, AF_UNIX].contains(family) else {
            throw .unusableDescriptor(descriptor, reason: "its address family is none of ours")
        }
        if family != AF_UNIX {
            guard try option(SO_PROTOCOL) == Int32(IPPROTO_TCP) else {
                throw .unusableDescriptor(descriptor, reason: "it does not speak TCP")
            }
            Self.setRules(of: descriptor)
        }
        var bound = SocketAddress()
        let flags = fcntl(descriptor, F_GETFL)
        guard bound.fill({ getsockname(descriptor, $0, $1) }) == 0, flags >= 0,
            fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0,
            fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
        else { throw .unusableDescriptor(descriptor, reason: errorText(errno)) }
        self.descriptor = descriptor
        address = bound.listening
        file = nil
        isShared = true
    }

    private static let streamType = Int32(
        SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)

    /// What the kernel keeps of answers that a peer does not take yet, in octets a connection. By itself it would keep megabytes,
    /// and a thousand peers that ask and never read would have a gigabyte of its memory.
    private static let unsentLimit: Int32 = 128 * 1024

    /// What accepted sockets inherit. Without TCP_NODELAY an answer could wait for an acknowledgement.
    private static func setRules(of descriptor: Int32) {
        setOption(TCP_NODELAY, level: Int32(IPPROTO_TCP), of: descriptor)
        setOption(
            TCP_NOTSENT_LOWAT, to: unsentLimit, level: Int32(IPPROTO_TCP), of: descriptor)
    }

    private static func setOption(
        _ name: Int32, to value: Int32 = 1, level: Int32, of descriptor: Int32
    ) {
        var value = value
        setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout.size(ofValue: value)))
    }

    enum Accepted {
        case connection(Int32, RemoteAddress)
        case none
        /// This one is gone already; there may be others.
        case aborted
        /// Nothing can be accepted for now: an `errno`.
        case exhausted(Int32)
    }

    func accept() -> Accepted {
        var peer = SocketAddress()
        let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let connection = peer.fill { accept4(descriptor, $0, $1, flags) }
        if connection >= 0 { return .connection(connection, peer.remote) }
        switch errno {
        case EAGAIN: return .none
        // The first are the connection's own faults, which `accept` hands over (accept(2)). Any other stays: descriptors or
        // memory are short, or whoever shares an inherited socket has shut it.
        case EINTR, ECONNABORTED, EPERM, EPROTO, ENOPROTOOPT, ENETDOWN, EHOSTDOWN, ENONET,
            EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH, ETIMEDOUT, ECONNRESET:
            return .aborted
        default: return .exhausted(errno)
        }
    }

    /// Ends the listening. What waits in the backlog is refused, unless another process shares the socket.
    func end() {
        file?.remove()
        close(descriptor)
    }
}
