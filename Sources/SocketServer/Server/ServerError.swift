/// Why a server cannot start.
public enum ServerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Not an IPv4 or IPv6 address.
    case invalidAddress(String)
    /// Plain HTTP was asked for on an address that other machines can reach, with no trusted proxy in front.
    case plainHTTPOffLoopback(address: String)
    /// The address and port cannot be listened on, most often because they are taken.
    case cannotListen(address: String, port: UInt16, reason: String)
    /// The socket file cannot be made.
    case cannotListenOnFile(path: String, reason: String)
    /// The inherited descriptor is no listening stream socket of a family this server knows.
    case unusableDescriptor(Int32, reason: String)
    /// A system call failed.
    case systemCall(String, reason: String)
    /// No lanes were given.
    case noLanes
    /// A certificate or key file cannot be used.
    case unusableTLSFile(path: String, reason: String)
    /// OpenSSL refused a setting.
    case tlsSetup(reason: String)

    /// One line for an operator. It names files and addresses, never what is in them.
    public var description: String {
        switch self {
        case .invalidAddress(let text): "'\(text)' is not an IPv4 or IPv6 address"
        case .plainHTTPOffLoopback(let address):
            "plain HTTP is served on loopback, on a Unix socket or to trusted proxies only: \(address) needs a TLS "
                + "certificate and key"
        case .cannotListen(let address, let port, let reason):
            "cannot listen on \(address) port \(port): \(reason)"
        case .cannotListenOnFile(let path, let reason): "cannot listen on \(path): \(reason)"
        case .unusableDescriptor(let descriptor, let reason):
            "cannot listen on inherited descriptor \(descriptor): \(reason)"
        case .systemCall(let call, let reason): "\(call): \(reason)"
        case .noLanes: "the server needs at least one lane"
        case .unusableTLSFile(let path, let reason): "\(path): \(reason)"
        case .tlsSetup(let reason): "TLS: \(reason)"
        }
    }
}
