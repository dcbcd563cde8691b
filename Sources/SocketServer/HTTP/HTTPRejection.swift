/// A request the server itself refuses, before or instead of the handler. Every one closes the connection.
public enum HTTPRejection: Error, Sendable, Equatable, CaseIterable {
    /// The request line is not `method SP target SP HTTP-version` (RFC 9112 §3).
    case malformedRequestLine
    /// The target has no legal form, an octet outside RFC 3986, a bad escape, or a dot segment.
    case malformedTarget
    /// A field line without a name, with blanks around it, folded, or with a control octet (RFC 9112 §5).
    case malformedField
    /// A line ends in a bare LF, or a CR stands alone (RFC 9112 §2.2).
    case malformedLineEnd
    /// `Host` is absent, repeated, or no `host[:port]` (RFC 9112 §3.2).
    case malformedHost
    /// A field that may stand once stands twice, or holds a list (RFC 9110 §5.3).
    case repeatedField
    /// `Content-Length` is repeated, listed, or no decimal number of a sane size (RFC 9110 §8.6).
    case malformedContentLength
    /// `Transfer-Encoding` beside `Content-Length`, in HTTP/1.0, repeated, or not exactly `chunked`.
    case ambiguousFraming
    /// The chunked coding is broken (RFC 9112 §7.1).
    case malformedChunk
    /// The peer stopped sending in the middle of a request.
    case incompleteRequest
    /// A trusted proxy's field leaves the client in doubt (`TrustedProxies`).
    case malformedForwarding
    /// A trusted proxy says that the request came to it over plain http.
    case insecureForwarding
    /// The certificate that a trusted proxy hands on is not good, as if the client's handshake had failed here.
    case clientCertificateRefused
    /// CONNECT: this server is no proxy.
    case tunnelRefused
    /// The head did not arrive in time.
    case headTimeout
    /// The body did not arrive in time.
    case bodyTimeout
    /// The body is larger than the handler reads.
    case bodyTooLarge
    /// Chunk trailers are larger than the server reads.
    case trailersTooLarge
    /// The target is longer than `HTTPLimits.target`.
    case targetTooLong
    /// An expectation other than `100-continue`.
    case expectationFailed
    /// The authority is none of `HTTPLimits.hosts`.
    case misdirectedRequest
    /// The field section is larger than the server reads, or has too many fields.
    case headTooLarge
    /// The handler dropped its `Reply`, or its response could not be written as HTTP.
    case handlerFailed
    /// A method this server does not know.
    case methodNotImplemented
    /// A transfer coding this server does not know.
    case codingNotImplemented
    /// The handler did not answer in time.
    case handlerTimeout
    /// An HTTP version other than 1.x.
    case versionNotSupported

    /// The status code of the answer.
    public var status: Int {
        switch self {
        case .malformedRequestLine, .malformedTarget, .malformedField, .malformedLineEnd,
            .malformedHost, .repeatedField, .malformedContentLength, .ambiguousFraming,
            .malformedChunk, .incompleteRequest, .malformedForwarding, .insecureForwarding,
            .clientCertificateRefused:
            400
        case .tunnelRefused: 405
        case .headTimeout, .bodyTimeout: 408
        case .bodyTooLarge, .trailersTooLarge: 413
        case .targetTooLong: 414
        case .expectationFailed: 417
        case .misdirectedRequest: 421
        case .headTooLarge: 431
        case .handlerFailed: 500
        case .methodNotImplemented, .codingNotImplemented: 501
        case .handlerTimeout: 503
        case .versionNotSupported: 505
        }
    }

    /// A fixed sentence for the caller. It never holds anything the peer sent.
    public var reason: String {
        switch self {
        case .malformedRequestLine: "The request line is malformed."
        case .malformedTarget: "The request target is malformed."
        case .malformedField: "A header field is malformed."
        case .malformedLineEnd: "A line does not end in CR LF."
        case .malformedHost: "The Host field is missing or malformed."
        case .repeatedField: "A header field that may stand only once is repeated."
        case .malformedContentLength: "The Content-Length is malformed."
        case .ambiguousFraming: "The length of the body is ambiguous."
        case .malformedChunk: "The chunked body is malformed."
        case .incompleteRequest: "The request ended too early."
        case .malformedForwarding: "The proxy's word about the client is malformed."
        case .insecureForwarding: "The request came to the proxy over plain http."
        case .clientCertificateRefused: "The client certificate is not good."
        case .tunnelRefused: "This server opens no tunnels."
        case .headTimeout: "The request head took too long."
        case .bodyTimeout: "The request body took too long."
        case .bodyTooLarge: "The request body is too large."
        case .trailersTooLarge: "The trailer section is too large."
        case .targetTooLong: "The request target is too long."
        case .expectationFailed: "The expectation cannot be met."
        case .misdirectedRequest: "This host is not served here."
        case .headTooLarge: "The request header is too large."
        case .handlerFailed: "The server failed to answer."
        case .methodNotImplemented: "The method is not implemented."
        case .codingNotImplemented: "The transfer coding is not implemented."
        case .handlerTimeout: "The server took too long to answer."
        case .versionNotSupported: "The HTTP version is not supported."
        }
    }
}
