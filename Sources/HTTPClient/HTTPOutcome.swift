/// How one request ended (R-100-20).
public enum HTTPOutcome: Sendable, Equatable {
    /// The peer answered, with whatever status.
    case answer(HTTPAnswer)
    /// No answer, and the peer may have acted on the request.
    case lost(LossReason)
    /// No answer, and provably no byte of the request left this machine.
    case unsent(LossReason)
}

/// Why no answer came.
public enum LossReason: Sendable, Equatable {
    /// The request itself cannot be sent: bad URL, forbidden scheme, or a header with a control character.
    case invalidRequest
    /// The name has no address.
    case unresolved
    /// No connection, within the connect timeout.
    case unreachable
    /// The TLS handshake failed or the certificate is not trusted.
    case insecure
    /// A time limit passed.
    case timedOut
    /// The peer closed the connection or spoke something other than HTTP.
    case broken
    /// The caller gave up.
    case cancelled
}

/// A status line with its headers and body.
public struct HTTPAnswer: Sendable, Equatable {
    /// The HTTP status, 200 to 599.
    public var status: Int
    /// The header fields, in the order in which they came.
    public var headers: HTTPFields
    /// The body, as many bytes as `maximumBodyBytes` at most.
    public var body: [UInt8]
    /// The body was longer than `maximumBodyBytes`; `body` is empty then.
    public var isOversized: Bool

    /// An answer, as a test would script it.
    public init(status: Int, headers: HTTPFields, body: [UInt8], isOversized: Bool = false) {
        self.status = status
        self.headers = headers
        self.body = body
        self.isOversized = isOversized
    }
}

/// Header fields in order, every value kept; names compare without regard to case (RFC 9110 §5.1).
public struct HTTPFields: Sendable, Equatable {
    /// One header line.
    public struct Field: Sendable, Equatable {
        /// As it came, letter case kept.
        public var name: String
        /// Without the white space around it.
        public var value: String
    }

    /// All lines, in order.
    public private(set) var all: [Field] = []

    /// No fields.
    public init() {}

    /// Adds a line at the end; earlier lines of that name stay.
    public mutating func append(_ name: String, _ value: String) {
        all.append(Field(name: name, value: value))
    }

    /// Every value of the field, in order.
    public func values(_ name: String) -> [String] {
        let wanted = name.lowercased()
        return all.filter { $0.name.lowercased() == wanted }.map(\.value)
    }

    /// The first value of the field.
    public func first(_ name: String) -> String? {
        values(name).first
    }
}
