/// What an `HTTPServer` is to do.
public struct HTTPServerConfiguration: Sendable {
    /// Where connections come from.
    public var endpoint: ListeningEndpoint
    /// `nil` for plain HTTP, which is served on loopback, on Unix sockets, and to trusted proxies only. An inherited socket is
    /// judged by what it is bound to.
    public var tls: TLSConfiguration?
    /// Whose word about the client counts. With plain HTTP where other machines can reach it, everybody else's connection is
    /// closed at once.
    public var trustedProxies: TrustedProxies?
    /// Sizes of one request.
    public var limits = HTTPLimits()
    /// Waits of one connection.
    public var deadlines = HTTPDeadlines()
    /// Open connections at most. At the cap the longest idle one makes room, and new ones wait in the backlog.
    public var maximumConnections = 16_384
    /// Open connections at most from one IPv4 address, one IPv6 /64, or all Unix sockets together. One more is closed at once.
    /// A trusted proxy's connections are many clients' and count in the total only.
    public var maximumConnectionsPerAddress = 2048
    /// Descriptors that connections leave to the rest of the process, such as its database and the files of a reload. At that
    /// bound connections wait in the backlog, and none is closed for them.
    public var sparedDescriptors = 0
    /// Connections the kernel keeps before they are accepted; whoever made an inherited socket has decided that.
    public var backlog: Int32 = 4096
    /// Told what happens at the door, on the server's own queue.
    public var observe: (@Sendable (ServerEvent) -> Void)?
    /// The calendar's time, in seconds since 1970 UTC: certificates that proxies hand on are judged by it.
    var now: @Sendable () -> Int64 = CalendarTime.now

    /// Makes a configuration with the default limits and deadlines.
    public init(_ endpoint: ListeningEndpoint, tls: TLSConfiguration? = nil) {
        self.endpoint = endpoint
        self.tls = tls
    }

    /// Makes one for a literal IPv4 or IPv6 address and a port.
    public init(address: String, port: UInt16, tls: TLSConfiguration? = nil) {
        self.init(.tcp(address: address, port: port), tls: tls)
    }
}
