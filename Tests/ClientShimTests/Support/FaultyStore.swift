import Synchronization

@testable import ClientShim

/// A store in memory whose writes can be made to fail.
final class FaultyStore: SecureStore, LockAnnouncing {
    private let inner = InMemorySecureStore()
    private let failing = Mutex<[String: Int]>([:])
    private let log = Mutex<[String]>([])
    private let waits = Mutex<[String]>([])

    /// The next writes of that record fail, so many times.
    func failWrites(of name: String, times: Int) {
        failing.withLock { $0[name] = times }
    }

    /// The next removals of that record fail, so many times.
    func failRemovals(of name: String, times: Int) { failWrites(of: "-" + name, times: times) }

    /// Writes and removals in order, such as `+session` and `-session`.
    var changes: [String] { log.withLock { $0 } }

    func note(_ event: String) { log.withLock { $0.append(event) } }

    func read(_ name: String) throws(SecureStoreError) -> [UInt8]? { try inner.read(name) }

    func replace(_ name: String, with bytes: [UInt8]) throws(SecureStoreError) {
        try fail(name)
        log.withLock { $0.append("+" + name) }
        try inner.replace(name, with: bytes)
    }

    func remove(_ name: String) throws(SecureStoreError) {
        try fail("-" + name)
        log.withLock { $0.append("-" + name) }
        try inner.remove(name)
    }

    private func fail(_ name: String) throws(SecureStoreError) {
        let fails = failing.withLock { failing in
            guard let left = failing[name], left > 0 else { return false }
            failing[name] = left - 1
            return true
        }
        guard !fails else { throw .failed(details: "told so") }
    }

    func names(prefix: String) throws(SecureStoreError) -> [String] {
        try inner.names(prefix: prefix)
    }

    func tryLock(_ name: String) throws(SecureStoreError) -> (any StoreLock)? {
        try inner.tryLock(name)
    }

    func whenReleased(_ name: String) async {
        waits.withLock { $0.append(name) }
        await inner.whenReleased(name)
    }

    /// How often somebody had to wait for that lock.
    func waits(for name: String) -> Int { waits.withLock { $0.count { $0 == name } } }
}

/// Keeps diagnostic events.
final class DiagnosticLog: Sendable {
    private let log = Mutex<[DiagnosticEvent]>([])

    func add(_ event: DiagnosticEvent) { log.withLock { $0.append(event) } }
    var events: [DiagnosticEvent] { log.withLock { $0 } }
}
