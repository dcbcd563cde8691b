/// An answer. The server adds `Date`, `Content-Length` and `Connection`, and ignores those three, as well as
/// `Transfer-Encoding`, in `headers`. It also adds `X-Content-Type-Options`, and `Strict-Transport-Security` (RFC 6797)
/// over its own TLS.
public struct HTTPResponse: Sendable {
    /// The status code, 200 to 599.
    public var status: Int
    /// Fields in the order they are sent. A name that is no token or a value with a control octet turns the
    /// whole answer into a 500, so that no input can split a response.
    public var headers: [(name: String, value: String)]
    /// The content. Left out on the wire for HEAD, 204 and 304.
    public var body: [UInt8]
    /// Whether the connection ends after this answer.
    public var closesConnection: Bool

    /// Makes an answer.
    public init(
        status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        closesConnection: Bool = false
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.closesConnection = closesConnection
    }
}
