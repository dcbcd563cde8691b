/// One request for an `HTTPTransport`.
public struct HTTPRequest: Sendable {
    /// As it goes on the wire, upper case.
    public var method: String
    /// Absolute `https` URL, or `http` to a loopback host where the environment allows it.
    public var url: String
    /// Header lines in order.
    public var headers: [HTTPHeader]
    /// What follows the head.
    public var body: HTTPBody
    /// A longer answer body is dropped and the answer marked `isOversized` (R-100-26).
    public var maximumAnswerBytes: Int

    /// A request with an answer of 1 MiB at most, unless told otherwise.
    public init(
        method: String, url: String, headers: [HTTPHeader] = [], body: HTTPBody = .none,
        maximumAnswerBytes: Int = 1 << 20
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.maximumAnswerBytes = maximumAnswerBytes
    }

    /// The header lines that go out. How long a body is, the body alone says: a peer that read another length would take
    /// the rest for a request of its own.
    var wireHeaders: [HTTPHeader] {
        headers.filter { !["content-length", "transfer-encoding"].contains($0.name.lowercased()) }
    }
}

/// A request body, which says by its kind whether a second attempt can deliver the same bytes.
public enum HTTPBody: Sendable {
    /// No body.
    case none
    /// Bytes that can be sent again. Empty bytes are a body of length zero.
    case bytes([UInt8])
    /// A source that can be read once: each call gives the next bytes, `nil` the end. Read while it is sent, one call at a
    /// time on a thread that may block for a while (no time limit ends a call that never returns), and never repeated. When it throws, the request is cut off: no peer sees it whole.
    case oneShot(@Sendable () throws -> [UInt8]?)

    /// Whether a second attempt would deliver the same bytes.
    var isReplayable: Bool {
        if case .oneShot = self { false } else { true }
    }
}

/// One header line.
public struct HTTPHeader: Sendable, Equatable {
    /// The field's name; compared without regard to case.
    public var name: String
    /// Its value.
    public var value: String

    /// A line.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// How one request ended (R-100-20).
public enum HTTPOutcome: Sendable, Equatable {
    /// The peer answered, with whatever status.
    case answer(HTTPAnswer)
    /// No status line came; the peer may have acted on the request.
    case lost(LossReason)
    /// Provably no request byte left the device.
    case unsent(LossReason)
}

/// Why no answer came; for diagnostics, no rule depends on it.
public enum LossReason: Sendable, Equatable {
    /// The URL or a header cannot be sent.
    case invalidRequest
    /// No address, no route, or nobody listens.
    case unreachable
    /// The TLS handshake failed or the certificate is not trusted.
    case insecure
    /// A time limit passed.
    case timedOut
    /// The connection ended without an answer.
    case broken
    /// The system or the caller stopped the request.
    case cancelled
}

/// A status line with its headers and body.
public struct HTTPAnswer: Sendable, Equatable {
    /// The HTTP status.
    public var status: Int
    /// Header lines in the order in which they came.
    public var headers: [HTTPHeader]
    /// The whole body; empty when `isOversized`.
    public var body: [UInt8]
    /// The body was longer than the request allowed.
    public var isOversized: Bool

    /// An answer.
    public init(
        status: Int, headers: [HTTPHeader] = [], body: [UInt8] = [], isOversized: Bool = false
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.isOversized = isOversized
    }

    /// Every value of a field, in order.
    public func values(_ name: String) -> [String] {
        let wanted = name.lowercased()
        return headers.filter { $0.name.lowercased() == wanted }.map(\.value)
    }

    /// The value of a field that came exactly once.
    public func single(_ name: String) -> String? {
        let values = values(name)
        return values.count == 1 ? values[0] : nil
    }
}
