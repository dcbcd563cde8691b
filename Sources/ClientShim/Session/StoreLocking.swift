/// Waits for a lock of a store.
enum StoreLocking {
    static let pauseMilliseconds: Int64 = 20

    /// The lock, as soon as it is free. A cancelled task waits for it like any other: what it is about to
    /// store was already issued.
    /// - Parameter executor: where a cancelled task's waiting goes on.
    /// - Throws: `secureStore(.failed)` when another process keeps the lock for `limitMilliseconds`.
    static func acquire(
        _ name: String, in store: any SecureStore, clock: any AuthnClock,
        executor: any TaskExecutor, limitMilliseconds: Int64
    ) async throws(AuthnFault) -> any StoreLock {
        var waited: Int64 = 0
        while true {
            let lock = try storeFault { () throws(SecureStoreError) in try store.tryLock(name) }
            if let lock { return lock }
            if let store = store as? any LockAnnouncing {
                await store.whenReleased(name)
                continue
            }
            guard waited < limitMilliseconds else {
                throw .secureStore(.failed(details: "lock \(name) stays taken"))
            }
            // Another process gives no sign, so it is asked again.
            do { try await clock.sleep(milliseconds: pauseMilliseconds) } catch {
                await Task(executorPreference: executor) {
                    try? await clock.sleep(milliseconds: pauseMilliseconds)
                }.value
            }
            waited += pauseMilliseconds
        }
    }
}

/// A store whose locks only this process takes, so that it knows when one is given back.
protocol LockAnnouncing: SecureStore {
    /// Returns when nobody holds the lock; the next to ask may find it taken again.
    func whenReleased(_ name: String) async
}
