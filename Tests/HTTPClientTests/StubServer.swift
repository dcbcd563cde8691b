import Foundation
import Synchronization

/// A plain HTTP server on a free loopback port that does to each connection what the test says.
final class StubServer: Sendable {
    /// What to do with the next request on a connection.
    enum Step: Sendable {
        /// Send these bytes and read the next request.
        case send(String)
        /// Close without a byte.
        case close
        /// Send nothing until the test ends.
        case hang
    }

    let port: UInt16
    private let listener: Int32
    private let steps: Mutex<[Step]>
    private let log = Mutex<[String]>([])
    /// Those still open, and how many there ever were.
    private let connections = Mutex((open: Set<Int32>(), count: 0))

    init(_ steps: [Step]) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isReady = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isReady else { throw POSIXError(.EADDRINUSE) }
        port = UInt16(bigEndian: address.sin_port)
        self.steps = Mutex(steps)
        // Threads of their own: blocked ones must not take the few that Dispatch and tasks work on.
        Thread.detachNewThread { [weak self] in
            // Only this thread closes the listener: a number that is closed elsewhere is soon another socket's.
            defer { close(listener) }
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                guard let self else {
                    close(connection)
                    return
                }
                self.connections.withLock {
                    $0.open.insert(connection)
                    $0.count += 1
                }
                Thread.detachNewThread { self.serve(connection) }
            }
        }
    }

    /// Every request so far: head and body as they came.
    var requests: [String] { log.withLock { $0 } }
    /// Connections so far.
    var connectionCount: Int { connections.withLock { $0.count } }

    var url: String { "http://127.0.0.1:\(port)" }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        // Under the lock, so that none of the numbers is closed, and perhaps another's, meanwhile.
        connections.withLock {
            for connection in $0.open { shutdown(connection, Int32(SHUT_RDWR)) }
        }
    }

    private func serve(_ connection: Int32) {
        defer {
            connections.withLock {
                $0.open.remove(connection)
                close(connection)
            }
        }
        while let request = read(connection) {
            log.withLock { $0.append(request) }
            let step = steps.withLock { $0.isEmpty ? Step.close : $0.removeFirst() }
            switch step {
            case .send(let text):
                _ = Array(text.utf8).withUnsafeBytes {
                    send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
            case .close: return
            case .hang:
                var byte: UInt8 = 0
                while recv(connection, &byte, 1, 0) > 0 {}
                return
            }
        }
    }

    /// One request by its `Content-Length`, `nil` at the end of the connection.
    private func read(_ connection: Int32) -> String? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n") {
                let length =
                    text[..<end.lowerBound].split(separator: "\r\n")
                    .first { $0.lowercased().hasPrefix("content-length:") }
                    .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
                if text[end.upperBound...].utf8.count >= length { return text }
            }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }
}
