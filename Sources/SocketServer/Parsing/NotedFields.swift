/// What the fields of a head say about the message itself: its framing, its host, and the connection.
struct NotedFields {
    private(set) var host: String?
    private var contentLength: Int?
    private var isChunked = false
    private var closes = false
    private var persists = false
    private var expects100 = false
    private var expectsOther = false
    /// One bit a `KnownField`.
    private var seen: UInt32 = 0

    mutating func note(_ field: KnownField, _ line: FieldLine) throws(HTTPRejection) {
        let bit: UInt32 = 1 << field.rawValue
        if seen & bit != 0, let rejection = field.repetition { throw rejection }
        seen |= bit
        switch field {
        case .host:
            guard HostField.isValid(line.value) else { throw .malformedHost }
            host = String(decoding: line.value, as: UTF8.self)
        case .contentLength: contentLength = try BodyFraming.contentLength(line.value)
        case .transferEncoding:
            try BodyFraming.checkCoding(line.rawValue)
            isChunked = true
        case .connection: noteConnection(line.value)
        case .expect:
            if line.value.equals(lowercase: "100-continue") {
                expects100 = true
            } else {
                expectsOther = true
            }
        case .dpop:
            // A proof holds no comma: one here is two fields that an intermediary joined.
            if line.value.contains(UInt8(ascii: ",")) { throw .repeatedField }
        default: break
        }
    }

    /// `Connection` is a list of tokens, over one line or several (RFC 9110 §7.6.1).
    private mutating func noteConnection(_ value: Slice<Octets>) {
        for option in value.split(separator: UInt8(ascii: ",")) {
            let option = option.withoutOuterBlanks
            if option.equals(lowercase: "close") { closes = true }
            if option.equals(lowercase: "keep-alive") { persists = true }
        }
    }

    func framing(isHTTP10: Bool) throws(HTTPRejection) -> BodyFraming {
        if isChunked {
            guard contentLength == nil, !isHTTP10 else { throw .ambiguousFraming }
            return .chunked
        }
        guard let contentLength, contentLength > 0 else { return .none }
        return .length(contentLength)
    }

    /// HTTP/1.0 knows no expectations, so there they are ignored (RFC 9110 §10.1.1).
    func expectsContinue(isHTTP10: Bool) throws(HTTPRejection) -> Bool {
        guard !isHTTP10 else { return false }
        guard !expectsOther else { throw .expectationFailed }
        return expects100
    }

    func keepsAlive(isHTTP10: Bool) -> Bool {
        !closes && (!isHTTP10 || persists)
    }
}
