/// A request's head: everything before its body, already validated.
///
/// One object, since it is handed on several times and has many parts.
public final class HTTPRequestHead: Sendable {
    /// A method this server knows, in upper case.
    public let method: String
    /// The path exactly as sent, still percent-encoded: it starts with `/`, each escape is `%` and two hex digits
    /// (never `%00`), and no segment is `.` or `..`. For `OPTIONS *` it is `*`.
    public let path: String
    /// What followed `?`, still percent-encoded; `nil` without a `?`.
    public let query: String?
    /// The authority the request is for, `host[:port]` as sent: from an absolute-form target, else from `Host`.
    /// Empty for HTTP/1.0 without `Host`.
    public let authority: String
    /// The fields.
    public let headers: HTTPHeaders
    /// The client's address: the peer's own, or whom a trusted proxy speaks for.
    public let remote: RemoteAddress
    /// The address at the other end of the socket.
    public let peer: RemoteAddress
    /// Whether the request was encrypted all the way: by this server's own TLS, or by a trusted proxy's word.
    public let isSecure: Bool
    /// The client's certificate, when it showed one that is good.
    public let clientCertificate: ClientCertificate?

    let framing: BodyFraming
    let expectsContinue: Bool
    let keepsAlive: Bool
    let isHTTP10: Bool

    /// Makes a head without a socket, for the tests of a handler.
    public convenience init(
        method: String, path: String, query: String? = nil, authority: String = "localhost",
        headers: HTTPHeaders = HTTPHeaders([]), remote: RemoteAddress = .loopback,
        isSecure: Bool = true, clientCertificate: ClientCertificate? = nil
    ) {
        self.init(
            method: method, path: path, query: query, authority: authority, headers: headers,
            remote: remote, peer: remote, isSecure: isSecure, clientCertificate: clientCertificate,
            framing: .none,
            expectsContinue: false,
            keepsAlive: true, isHTTP10: false)
    }

    init(
        method: String, path: String, query: String?, authority: String, headers: HTTPHeaders,
        remote: RemoteAddress, peer: RemoteAddress, isSecure: Bool,
        clientCertificate: ClientCertificate? = nil,
        framing: BodyFraming, expectsContinue: Bool,
        keepsAlive: Bool, isHTTP10: Bool
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.authority = authority
        self.headers = headers
        self.remote = remote
        self.peer = peer
        self.isSecure = isSecure
        self.clientCertificate = clientCertificate
        self.framing = framing
        self.expectsContinue = expectsContinue
        self.keepsAlive = keepsAlive
        self.isHTTP10 = isHTTP10
    }
}

/// One whole request.
public struct HTTPRequest: Sendable {
    /// Its head.
    public let head: HTTPRequestHead
    /// Its decoded body; empty when there is none.
    public let body: [UInt8]

    /// Makes a request without a socket, for the tests of a handler.
    public init(head: HTTPRequestHead, body: [UInt8] = []) {
        self.head = head
        self.body = body
    }
}
