import Dispatch
import Glibc
import JOSE

/// What came back over a socket.
struct WireResponse: Sendable {
    let status: Int
    /// Names in lower case, in the order they came.
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    func all(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

    func first(_ name: String) -> String? { all(name).first }

    var text: String { String(decoding: body, as: UTF8.self) }

    func json() throws -> JSONValue { try JSONValue(parsing: body) }

    var code: String? { (try? json())?["code"]?.string }
}

/// A plain client of octets: sends exactly what it is told and reads one answer after the other. It blocks a queue of its own.
///
/// Sendable: everything but `init` happens on `queue`.
final class WireConnection: @unchecked Sendable {
    struct Failure: Error { let reason: String }

    private let queue = DispatchQueue(label: "test.wire")
    private let descriptor: Int32
    private var unread: [UInt8] = []
    /// Of the newest request that has no answer yet.
    private var requestLine: String?

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else {
            let reason = String(cString: strerror(errno))
            close(descriptor)
            throw Failure(reason: "connect: \(reason)")
        }
    }

    deinit { close(descriptor) }

    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) async throws {
        try await onQueue {
            let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
            // What only goes on with a request has no request line.
            if line.hasSuffix(" HTTP/1.1") { self.requestLine = line }
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.send(self.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { throw Failure(reason: "send: \(errno)") }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// The next answer; interim ones are passed over.
    ///
    /// - Parameter hasBody: false for the answer to HEAD.
    func response(hasBody: Bool = true) async throws -> WireResponse {
        try await onQueue {
            while true {
                let response = try self.read(hasBody: hasBody)
                guard response.status >= 200 else { continue }
                if let line = self.requestLine {
                    AnswerRecord(requestLine: line, response: response)?.keep()
                }
                self.requestLine = nil
                return response
            }
        }
    }

    /// Whether the peer has closed, after everything it sent was read.
    func isClosedByPeer() async throws -> Bool {
        try await onQueue { try self.unread.isEmpty && !self.readMore() }
    }

    private func read(hasBody: Bool) throws -> WireResponse {
        while endOfHead == nil {
            guard try readMore() else { throw Failure(reason: "closed before an answer") }
        }
        guard let endOfHead else { throw Failure(reason: "no head") }
        let lines = String(decoding: unread[..<endOfHead], as: UTF8.self)
            .split(separator: "\r\n").map(String.init)
        unread.removeFirst(endOfHead)
        let headers = lines.dropFirst().map { line -> (name: String, value: String) in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (
                parts[0].lowercased(), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
            )
        }
        guard let status = lines.first.flatMap({ Int($0.split(separator: " ")[1]) }) else {
            throw Failure(reason: "no status line")
        }
        let length = headers.first { $0.name == "content-length" }.flatMap { Int($0.value) } ?? 0
        let expected = hasBody && status >= 200 && status != 304 ? length : 0
        while unread.count < expected {
            guard try readMore() else { throw Failure(reason: "closed within a body") }
        }
        let body = Array(unread.prefix(expected))
        unread.removeFirst(expected)
        return WireResponse(status: status, headers: headers, body: body)
    }

    /// Behind the blank line. Looked for by hand: `firstRange(of:)` asks the runtime for metadata under a lock, where hundreds of
    /// clients would queue.
    private var endOfHead: Int? {
        var matched = 0
        for (index, octet) in unread.enumerated() {
            matched = octet == Self.blankLine[matched] ? matched + 1 : octet == 0x0d ? 1 : 0
            if matched == Self.blankLine.count { return index + 1 }
        }
        return nil
    }

    private static let blankLine = Array("\r\n\r\n".utf8)

    /// False at the end of the stream.
    private func readMore() throws -> Bool {
        var chunk = [UInt8](repeating: 0, count: 16_384)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        if count < 0, errno == ECONNRESET { return false }
        guard count >= 0 else { throw Failure(reason: "recv: \(String(cString: strerror(errno)))") }
        unread += chunk[..<count]
        return count > 0
    }

    private func onQueue<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value)
        async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body() }) }
        }
    }
}
