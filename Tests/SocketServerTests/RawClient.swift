import Dispatch
import Glibc

@testable import SocketServer

struct ClientError: Error { let text: String }

/// Runs blocking work away from the threads of Swift concurrency.
func offPool<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
{
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "blocking client").async {
            continuation.resume(with: Result(catching: body))
        }
    }
}

/// A blocking client, over TCP or a Unix socket, that sends exactly the octets it is told to.
final class RawClient {
    private let descriptor: Int32
    private var received: [UInt8] = []
    private var reachedEnd = false

    convenience init(port: UInt16, receiveBuffer: Int32? = nil) throws {
        try self.init(.tcp(.loopback, port: port), receiveBuffer: receiveBuffer)
    }

    /// - Parameter source: the local address, such as another one of 127.0.0.0/8.
    init(_ server: ListeningAddress, from source: String? = nil, receiveBuffer: Int32? = nil) throws
    {
        let address = try Self.socketAddress(server)
        descriptor = socket(
            address.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ClientError(text: "socket") }
        if var size = receiveBuffer {
            setsockopt(
                descriptor, SOL_SOCKET, SO_RCVBUF, &size,
                socklen_t(MemoryLayout.size(ofValue: size)))
        }
        // A test that waits for what never comes fails instead of hanging.
        var patience = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience,
            socklen_t(MemoryLayout.size(ofValue: patience)))
        setsockopt(
            descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience,
            socklen_t(MemoryLayout.size(ofValue: patience)))
        var on: Int32 = 1
        setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on,
            socklen_t(MemoryLayout.size(ofValue: on)))
        if let source = source.flatMap({ SocketAddress($0, port: 0) }) {
            _ = source.withPointer { bind(descriptor, $0, $1) }
        }
        guard address.withPointer({ connect(descriptor, $0, $1) }) == 0 else {
            let error = errno
            close(descriptor)
            throw ClientError(text: "connect: \(error)")
        }
    }

    private static func socketAddress(_ server: ListeningAddress) throws -> SocketAddress {
        switch server {
        case .tcp(let address, let port):
            guard let address = SocketAddress("\(address)", port: port) else {
                throw ClientError(text: "\(server)")
            }
            return address
        case .unix(let path):
            guard let path = UnixSocketPath(path) else { throw ClientError(text: path) }
            return SocketAddress(path)
        }
    }

    deinit { close(descriptor) }

    /// - Returns: whether the kernel took all of it.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(
                    descriptor, $0.baseAddress.map { $0 + sent }, bytes.count - sent,
                    Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    /// The client will send nothing more, but still reads.
    func endInput() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Ends the connection with a reset.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &option,
            socklen_t(MemoryLayout.size(ofValue: option)))
    }

    /// The gap between two octets of a slow client: part of its input, not a wait for the server.
    func pause(microseconds: UInt32) { usleep(microseconds) }

    /// Reads until so many answers are whole, or until the server ends the connection.
    func readAnswers(count: Int? = nil, isHead: Bool = false) -> [Answer] {
        var answers: [Answer] = []
        while count.map({ answers.count < $0 }) ?? true {
            if let answer = Answer.take(from: &received, isHead: isHead) {
                answers.append(answer)
            } else if !readSome() {
                break
            }
        }
        if reachedEnd, received.isEmpty, let last = answers.indices.last {
            answers[last].wasLast = true
        }
        return answers
    }

    /// Reads up to the server's end of the connection, which must come.
    func readToEnd() throws -> [UInt8] {
        while readSome() {}
        guard reachedEnd else { throw ClientError(text: "no end of the connection") }
        defer { received = [] }
        return received
    }

    /// Whatever comes next; `nil` when nothing does any more.
    func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count == 0 { reachedEnd = true }
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    private func readSome() -> Bool {
        guard let octets = receive() else { return false }
        received += octets
        return true
    }
}

/// A client that outlives the closure it was made in; used by one thread at a time.
final class Kept: @unchecked Sendable {
    let client: RawClient
    init(_ client: RawClient) { self.client = client }
}
