internal import CEpoll
internal import Glibc

/// A bound and listening TCP socket.
struct ListeningSocket {
    let descriptor: Int32
    /// The port it is bound to, also when 0 was asked for.
    let port: UInt16

    init(address: String, port: UInt16, backlog: Int32) throws(ServerError) {
        guard let wanted = SocketAddress(address, port: port) else {
            throw .invalidAddress(address)
        }
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(wanted.family, type, 0)
        guard descriptor >= 0 else { throw .systemCall("socket", reason: errorText(errno)) }
        // A restart must not wait for the old connections' TIME_WAIT. Accepted sockets inherit both options; without
        // TCP_NODELAY an answer could wait for an acknowledgement.
        var on: Int32 = 1
        setsockopt(
            descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout.size(ofValue: on)))
        setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on,
            socklen_t(MemoryLayout.size(ofValue: on)))
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
        self.port = bound.port
    }

    enum Accepted {
        case connection(Int32, RemoteAddress)
        case none
        /// This one is gone already; there may be others.
        case aborted
        /// Descriptors or memory are short: an `errno`.
        case exhausted(Int32)
    }

    func accept() -> Accepted {
        var peer = SocketAddress()
        let flags = Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let connection = peer.fill { accept4(descriptor, $0, $1, flags) }
        if connection >= 0 { return .connection(connection, peer.remote) }
        switch errno {
        case EAGAIN: return .none
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted(errno)
        default: return .aborted
        }
    }
}
