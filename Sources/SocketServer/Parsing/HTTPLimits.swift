/// The sizes the server reads of one request. What is larger is refused, never cut.
public struct HTTPLimits: Sendable {
    /// Octets of the request target; longer is 414. RFC 9112 §3 asks for 8000 at least.
    public var target = 8000
    /// Octets of all field lines together, with their line ends; more is 431.
    public var fieldSection = 16 * 1024
    /// Number of field lines; more is 431.
    public var fields = 100
    /// Octets of chunk extensions in one body; more is 400.
    public var chunkExtensions = 256
    /// Octets of a body the handler refused that are still read and dropped to keep the connection; a longer body
    /// ends it.
    public var skippedBody = 16 * 1024
    /// Hosts this server answers for; another gets 421. The host of an absolute-form target counts, not `Host`.
    public var hosts = ServedHosts.any

    /// The defaults.
    public init() {}

    /// The most octets a legal head can have.
    var head: Int {
        RequestLine.maximumMethod + target + fieldSection + 64
    }
}
