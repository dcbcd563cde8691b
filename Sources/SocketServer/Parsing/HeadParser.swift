/// Reads a request's head. Each line is judged as soon as it is whole, and what is answered depends on the octets
/// alone, never on how they were split.
struct HeadParser {
    enum Answer {
        case complete(HTTPRequestHead, consumed: Int)
        case needMore
        case bad(HTTPRejection)
    }

    private let limits: HTTPLimits
    private var scanner = LineScanner()
    private var requestLine: (method: String, target: RequestTarget, isHTTP10: Bool)?
    private var skippedEmptyLine = false
    private var sectionStart = 0
    private var fields: [HTTPHeaders.Field] = []
    private var noted = NotedFields()

    init(limits: HTTPLimits) {
        self.limits = limits
    }

    /// Whether the request line is whole and asks for the head of an answer only.
    var isHead: Bool { requestLine?.method == "HEAD" }

    /// - Parameter bytes: everything since the start of the request; on each call the same octets and some more.
    mutating func parse(_ bytes: Octets, from peer: Peer) -> Answer {
        do throws(HTTPRejection) {
            guard let end = try readLines(bytes) else { return .needMore }
            return .complete(
                try head(Octets(rebasing: bytes[..<end]), from: peer), consumed: end)
        } catch {
            return .bad(error)
        }
    }

    /// Where the head ends, or `nil` while it is not all here.
    private mutating func readLines(_ bytes: Octets) throws(HTTPRejection) -> Int? {
        if requestLine == nil {
            guard try readRequestLine(bytes) else { return nil }
        }
        while true {
            let room = limits.fieldSection - (scanner.start - sectionStart)
            switch scanner.next(in: bytes, limit: max(room - 2, 0)) {
            case .needMore: return nil
            case .badEnd: throw .malformedLineEnd
            case .tooLong: throw .headTooLarge
            case .line(let end):
                let line = bytes[scanner.start..<end]
                scanner.advance(past: end)
                if line.isEmpty { return scanner.start }
                try read(FieldLine(line))
            }
        }
    }

    private mutating func readRequestLine(_ bytes: Octets) throws(HTTPRejection) -> Bool {
        // One empty line before a request is forgiven (RFC 9112 §2.2); anything else that starts no method, such
        // as a TLS hello, is refused at its first octet.
        if !skippedEmptyLine, bytes.first == .cr {
            guard bytes.count > 1 else { return false }
            guard bytes[1] == .lf else { throw .malformedLineEnd }
            skippedEmptyLine = true
            scanner.advance(past: 0)
        }
        guard bytes.count > scanner.start else { return false }
        guard bytes[scanner.start].isTokenOctet else { throw .malformedRequestLine }
        let limit = RequestLine.maximumMethod + limits.target + " HTTP/1.1 ".utf8.count
        switch scanner.next(in: bytes, limit: limit) {
        case .needMore: return false
        case .badEnd: throw .malformedLineEnd
        case .tooLong:
            let method = bytes[scanner.start..<(scanner.start + RequestLine.maximumMethod)]
            throw method.allSatisfy(\.isTokenOctet) ? .methodNotImplemented : .targetTooLong
        case .line(let end):
            let line = try RequestLine(bytes[scanner.start..<end], targetLimit: limits.target)
            let target = try RequestTarget(line.target, method: line.method)
            requestLine = (line.method, target, line.isHTTP10)
            scanner.advance(past: end)
            sectionStart = scanner.start
            return true
        }
    }

    private mutating func read(_ line: FieldLine) throws(HTTPRejection) {
        guard fields.count < limits.fields else { throw .headTooLarge }
        let value = line.value
        fields.append(
            HTTPHeaders.Field(
                name: line.name.startIndex..<line.name.endIndex,
                value: value.startIndex..<value.endIndex))
        if let known = KnownField(line.name) { try noted.note(known, line) }
    }

    private func head(_ octets: Octets, from peer: Peer) throws(HTTPRejection) -> HTTPRequestHead {
        guard let (method, target, isHTTP10) = requestLine else { throw .malformedRequestLine }
        guard noted.host != nil || isHTTP10 else { throw .malformedHost }
        let authority = target.authority ?? noted.host ?? ""
        guard limits.hosts.contains(authority: authority) else { throw .misdirectedRequest }
        let headers = HTTPHeaders(octets: octets, fields: fields)
        let forwarded = try peer.proxies?.client(of: peer.address, in: headers)
        // A proxy's own certificate is not its client's.
        let certificate =
            peer.proxies == nil
            ? peer.clientCertificate
            : try peer.forwarded?.certificate(in: headers, from: peer.address)
        return HTTPRequestHead(
            method: method, path: target.path, query: target.query, authority: authority,
            headers: headers, remote: forwarded?.address ?? peer.address, peer: peer.address,
            isSecure: forwarded?.isSecure ?? peer.isTLS,
            clientCertificate: certificate,
            framing: try noted.framing(isHTTP10: isHTTP10),
            expectsContinue: try noted.expectsContinue(isHTTP10: isHTTP10),
            keepsAlive: noted.keepsAlive(isHTTP10: isHTTP10), isHTTP10: isHTTP10)
    }
}
