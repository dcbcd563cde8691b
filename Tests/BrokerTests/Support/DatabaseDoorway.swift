import Foundation
import Glibc
import Synchronization
import TestKit

/// A Unix socket before a cluster's, through which a test sees each piece that goes by and may end the connection there.
final class DatabaseDoorway: Sendable {
    /// A piece of a connection, before it is handed on.
    enum Piece: Sendable {
        /// From the client with this socket.
        case question(client: Int32)
        /// From the server to the client with this socket.
        case answer(client: Int32)
    }

    private let listener: Int32
    private let server: String
    private let directory: TemporaryDirectory
    private let passes: @Sendable (Piece) -> Bool

    /// - Parameter passes: false ends the connection, and what was on its way does not arrive.
    init(before cluster: PostgresCluster, passes: @escaping @Sendable (Piece) -> Bool) throws {
        self.passes = passes
        directory = try TemporaryDirectory()
        server = cluster.socketDirectory + "/.s.PGSQL.5432"
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        try Self.withAddress(directory.path + "/.s.PGSQL.5432") { address, length in
            guard bind(self.listener, address, length) == 0, listen(self.listener, 16) == 0 else {
                throw POSIXError(.EADDRINUSE)
            }
        }
        let doorway = listener
        Self.inBackground { [weak self] in
            while true {
                let client = accept(doorway, nil, nil)
                guard client >= 0 else { return }
                guard let self else { close(client); return }
                self.serve(client)
            }
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)); close(listener) }

    /// The same database through this.
    func url(of database: String) -> String {
        let name = database.split(separator: "?")[0]
        return "\(name)?host=\(directory.path)&port=5432&user=postgres"
    }

    private func serve(_ client: Int32) {
        let upstream = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let isConnected = try? Self.withAddress(server) { connect(upstream, $0, $1) == 0 }
        guard isConnected == true else { close(client); close(upstream); return }
        let open = OpenEnds(client, upstream)
        let passes = passes
        Self.inBackground {
            Self.pump(client, upstream, open) { passes(.question(client: client)) }
        }
        Self.inBackground { Self.pump(upstream, client, open) { passes(.answer(client: client)) } }
    }

    /// Moves octets until either end is done, or `passes` says that these must not arrive.
    private static func pump(
        _ source: Int32, _ target: Int32, _ open: OpenEnds, _ passes: () -> Bool
    ) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(source, &buffer, buffer.count)
            guard count > 0, passes() else { break }
            var sent = 0
            while sent < count {
                let written = buffer[sent..<count].withUnsafeBytes {
                    send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard written > 0 else { return open.end() }
                sent += written
            }
        }
        open.end()
    }

    private static func withAddress<R>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> R
    ) throws -> R {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        return try withUnsafePointer(to: &address) {
            try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static func inBackground(_ work: @escaping @Sendable () -> Void) {
        Thread.detachNewThread(work)
    }
}

/// The two sockets of one connection, closed when both directions are done.
private final class OpenEnds: Sendable {
    private let descriptors: [Int32]
    private let left = Mutex(2)

    init(_ descriptors: Int32...) { self.descriptors = descriptors }

    func end() {
        for descriptor in descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
        let isLast = left.withLock { left in
            left -= 1
            return left == 0
        }
        if isLast { for descriptor in descriptors { close(descriptor) } }
    }
}
