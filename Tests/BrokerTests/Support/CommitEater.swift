import Foundation
import Glibc
import Synchronization
import TestKit

/// A network between broker and database that breaks at the worst moment: when armed it lets the next statement through and
/// drops the connection with the first octet of its answer, so that the commit happened and nobody was told.
final class CommitEater: Sendable {
    private let listener: Int32
    private let server: String
    private let isArmed = Atomic(false)
    private let eaten = Atomic(0)
    private let directory: TemporaryDirectory

    /// How many answers were eaten.
    var count: Int { eaten.load(ordering: .sequentiallyConsistent) }

    init(before cluster: PostgresCluster) throws {
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

    /// The next answer will not arrive.
    func arm() { isArmed.store(true, ordering: .sequentiallyConsistent) }

    private func serve(_ client: Int32) {
        let upstream = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let isConnected = try? Self.withAddress(server) { connect(upstream, $0, $1) == 0 }
        guard isConnected == true else { close(client); close(upstream); return }
        let open = OpenEnds(client, upstream)
        Self.inBackground { Self.pump(client, upstream, open) { true } }
        Self.inBackground { [weak self] in
            Self.pump(upstream, client, open) {
                guard let self, self.isArmed.exchange(false, ordering: .sequentiallyConsistent)
                else { return true }
                self.eaten.add(1, ordering: .sequentiallyConsistent)
                return false
            }
        }
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
