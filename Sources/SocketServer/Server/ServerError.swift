/// Why a server cannot start.
public enum ServerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Not an IPv4 or IPv6 address.
    case invalidAddress(String)
    /// Plain HTTP was asked for on an address that other machines can reach.
    case plainHTTPOffLoopback(address: String)
    /// The address and port cannot be listened on, most often because they are taken.
    case cannotListen(address: String, port: UInt16, reason: String)
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
            "plain HTTP is served on loopback only: \(address) needs a TLS certificate and key"
        case .cannotListen(let address, let port, let reason):
            "cannot listen on \(address) port \(port): \(reason)"
        case .systemCall(let call, let reason): "\(call): \(reason)"
        case .noLanes: "the server needs at least one lane"
        case .unusableTLSFile(let path, let reason): "\(path): \(reason)"
        case .tlsSetup(let reason): "TLS: \(reason)"
        }
    }
}
