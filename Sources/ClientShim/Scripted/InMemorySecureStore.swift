import Synchronization

/// Records in memory, for tests.
public final class InMemorySecureStore: SecureStore, LockAnnouncing {
    private struct State {
        var records: [String: [UInt8]] = [:]
        var locks: Set<String> = []
        var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]
    }

    private let state = Mutex(State())

    /// An empty store.
    public init() {}

    /// The record, `nil` when there is none.
    public func read(_ name: String) throws(SecureStoreError) -> [UInt8]? {
        state.withLock { $0.records[name] }
    }

    /// Writes the record.
    public func replace(_ name: String, with bytes: [UInt8]) throws(SecureStoreError) {
        guard !name.isEmpty else { throw .badName }
        state.withLock { $0.records[name] = bytes }
    }

    /// Removes the record.
    public func remove(_ name: String) throws(SecureStoreError) {
        state.withLock { $0.records[name] = nil }
    }

    /// The names that begin with `prefix`, sorted.
    public func names(prefix: String) throws(SecureStoreError) -> [String] {
        state.withLock { $0.records.keys.filter { $0.hasPrefix(prefix) }.sorted() }
    }

    /// A lock, if it is free now.
    public func tryLock(_ name: String) throws(SecureStoreError) -> (any StoreLock)? {
        guard state.withLock({ $0.locks.insert(name).inserted }) else { return nil }
        return Lock(store: self, name: name)
    }

    func whenReleased(_ name: String) async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.locks.contains(name) else { return true }
                state.waiting[name, default: []].append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func unlock(_ name: String) {
        let waiting = state.withLock { state in
            state.locks.remove(name)
            return state.waiting.removeValue(forKey: name) ?? []
        }
        for waiter in waiting { waiter.resume() }
    }

    private final class Lock: StoreLock {
        private let store: InMemorySecureStore
        private let name: String
        private let isHeld = Atomic(true)

        init(store: InMemorySecureStore, name: String) {
            self.store = store
            self.name = name
        }

        func release() {
            if isHeld.exchange(false, ordering: .relaxed) { store.unlock(name) }
        }
    }
}
