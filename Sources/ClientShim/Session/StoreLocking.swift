/// Waits for a lock that another process may hold. There is no event for that, so it asks again.
enum StoreLocking {
    static let pauseMilliseconds: Int64 = 20

    /// - Throws: `secureStore(.failed)` when the lock stays taken for `limitMilliseconds`.
    static func acquire(
        _ name: String, in store: any SecureStore, clock: any AuthnClock, limitMilliseconds: Int64
    ) async throws(AuthnFault) -> any StoreLock {
        var waited: Int64 = 0
        while true {
            let lock = try storeFault { () throws(SecureStoreError) in try store.tryLock(name) }
            if let lock { return lock }
            guard waited < limitMilliseconds else {
                throw .secureStore(.failed(details: "lock \(name) stays taken"))
            }
            // A cancelled task still finishes its step: what it stores was already issued.
            do { try await clock.sleep(milliseconds: pauseMilliseconds) } catch {
                await Task.yield()
            }
            waited += pauseMilliseconds
        }
    }
}
