/// How an `HTTPClient` connects, waits and whom it trusts. Times are whole seconds.
public struct HTTPClientConfiguration: Sendable, Equatable {
    /// PEM file of the only certificate authorities to trust; `nil` trusts the system's.
    public var caFile: String?
    /// From the start of name resolution to the end of the TLS handshake.
    public var connectTimeout: Int
    /// The longest time in which no byte may move.
    public var readTimeout: Int
    /// The whole exchange, waiting for a free connection not included.
    public var totalTimeout: Int
    /// A longer answer body is dropped and the answer marked `isOversized`.
    public var maximumBodyBytes: Int
    /// Exchanges that may run at once; the others wait their turn.
    public var maximumConcurrent: Int
    /// Lets plain `http` through, to loopback hosts only.
    public var allowInsecureLoopback: Bool
    /// Goes through the proxy that the environment names (`https_proxy` and its like), never to loopback hosts.
    public var usesProxy: Bool

    /// The defaults are those of R-100-23 and R-100-26.
    public init(
        caFile: String? = nil, connectTimeout: Int = 10, readTimeout: Int = 30,
        totalTimeout: Int = 60, maximumBodyBytes: Int = 1 << 20, maximumConcurrent: Int = 8,
        allowInsecureLoopback: Bool = false, usesProxy: Bool = true
    ) {
        self.caFile = caFile
        self.connectTimeout = connectTimeout
        self.readTimeout = readTimeout
        self.totalTimeout = totalTimeout
        self.maximumBodyBytes = maximumBodyBytes
        self.maximumConcurrent = maximumConcurrent
        self.allowInsecureLoopback = allowInsecureLoopback
        self.usesProxy = usesProxy
    }
}
