/// What an `HTTPServer` is to do.
public struct HTTPServerConfiguration: Sendable {
    /// A literal IPv4 or IPv6 address to listen on.
    public var address: String
    /// The port; 0 takes a free one, which `HTTPServer.port` then tells.
    public var port: UInt16
    /// `nil` for plain HTTP, which is served on loopback only.
    public var tls: TLSConfiguration?
    /// Sizes of one request.
    public var limits = HTTPLimits()
    /// Waits of one connection.
    public var deadlines = HTTPDeadlines()
    /// Open connections at most. At the cap the longest idle one makes room, and new ones wait in the backlog.
    public var maximumConnections = 16_384
    /// Open connections at most from one IPv4 address or one IPv6 /64. One more is closed at once.
    public var maximumConnectionsPerAddress = 2048
    /// Connections the kernel keeps before they are accepted.
    public var backlog: Int32 = 4096
    /// Told what happens at the door, on the server's own queue.
    public var observe: (@Sendable (ServerEvent) -> Void)?

    /// Makes a configuration with the default limits and deadlines.
    public init(address: String, port: UInt16, tls: TLSConfiguration? = nil) {
        self.address = address
        self.port = port
        self.tls = tls
    }
}
