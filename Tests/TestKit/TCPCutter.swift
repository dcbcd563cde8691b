import Foundation
import Synchronization

/// Carries octets between clients and a server on loopback, and cuts their connections when told.
public final class TCPCutter: Sendable {
    private struct State {
        var target: UInt16
        var open: Set<Int32> = []
        var isRefusing = false
        /// Octets that may still go to a client; `nil` is no limit.
        var budget: Int?
        var fromClients = 0
        var isStopped = false
    }

    private let listener: Int32
    private let state: Mutex<State>
    private let progress = NSCondition()

    /// What clients connect to.
    public let port: UInt16

    /// Listens on a free port.
    /// - Parameter target: the server's port; 0 until `forward(to:)`.
    public init(to target: UInt16 = 0) throws {
        state = Mutex(State(target: target))
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isReady = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 128) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isReady else { throw POSIXError(.EADDRINUSE) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [weak self] in
            // Only this thread closes the listener: a number that is closed elsewhere is soon another socket's.
            defer { close(listener) }
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                guard let self else {
                    close(client)
                    return
                }
                self.carry(client)
            }
        }
    }

    deinit { stop() }

    /// New connections go there.
    public func forward(to target: UInt16) { state.withLock { $0.target = target } }

    /// Whether new connections are closed at once, as by a server that is not there.
    public var isRefusing: Bool {
        get { state.withLock { $0.isRefusing } }
        set { state.withLock { $0.isRefusing = newValue } }
    }

    /// Cuts every open connection now.
    public func cut() {
        // Under the lock, so that none of the numbers is closed, and perhaps another's, meanwhile.
        state.withLock { state in
            for number in state.open { shutdown(number, Int32(SHUT_RDWR)) }
        }
    }

    /// Cuts every connection as soon as so many octets more have gone to clients.
    public func cut(afterOctets count: Int) { state.withLock { $0.budget = count } }

    /// Blocks until clients have sent so many octets in all. For a thread that may block.
    /// - Returns: whether they have; `false` when nothing came for half a minute.
    public func waitForOctets(_ count: Int) -> Bool {
        progress.lock()
        defer { progress.unlock() }
        while state.withLock({ $0.fromClients < count }) {
            guard progress.wait(until: Date(timeIntervalSinceNow: 30)) else { return false }
        }
        return true
    }

    /// Ends everything.
    public func stop() {
        let isFirst = state.withLock { state in
            defer { state.isStopped = true }
            return !state.isStopped
        }
        // Once: the number is soon another socket's.
        guard isFirst else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        cut()
    }

    private func carry(_ client: Int32) {
        let (target, isRefusing) = state.withLock { ($0.target, $0.isRefusing) }
        let server = isRefusing ? -1 : Self.connect(to: target)
        guard server >= 0 else {
            close(client)
            return
        }
        state.withLock { $0.open.formUnion([client, server]) }
        let ends = Ends()
        Thread.detachNewThread {
            self.pump(from: client, to: server, isFromClient: true)
            self.finish(client, server, ends)
        }
        Thread.detachNewThread {
            self.pump(from: server, to: client, isFromClient: false)
            self.finish(client, server, ends)
        }
    }

    /// How many of a connection's two threads still run.
    private final class Ends: Sendable {
        private let count = Mutex(2)

        /// - Returns: whether this was the last.
        func leave() -> Bool {
            count.withLock { count in
                count -= 1
                return count == 0
            }
        }
    }

    private func finish(_ client: Int32, _ server: Int32, _ ends: Ends) {
        guard ends.leave() else { return }
        state.withLock { state in
            state.open.subtract([client, server])
            close(client)
            close(server)
        }
    }

    private func pump(from source: Int32, to target: Int32, isFromClient: Bool) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        defer {
            shutdown(target, Int32(SHUT_WR))
            if !isFromClient { shutdown(source, Int32(SHUT_RD)) }
        }
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            var allowed = count
            if !isFromClient {
                allowed = state.withLock { state in
                    guard let budget = state.budget else { return count }
                    state.budget = max(0, budget - count)
                    return min(count, budget)
                }
            }
            guard Self.sendAll(buffer.prefix(allowed), to: target) else { return }
            if isFromClient {
                progress.lock()
                state.withLock { $0.fromClients += count }
                progress.broadcast()
                progress.unlock()
            }
            if allowed < count {
                state.withLock { $0.budget = nil }
                cut()
                return
            }
        }
    }

    private static func sendAll(_ octets: ArraySlice<UInt8>, to target: Int32) -> Bool {
        var rest = octets
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes {
                send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }

    private static func connect(to port: UInt16) -> Int32 {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = loopback(port: port)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(number, $0, length) == 0
            }
        }
        if isConnected { return number }
        close(number)
        return -1
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }
}
