import ClientShim
import Synchronization

/// One process life of the app. When it ends, whatever the old objects still try is not done, and their locks are free, as
/// when a process is killed.
final class Lifeline: Sendable {
    private struct State {
        var isAlive = true
        var locks: [Int: any StoreLock] = [:]
        var nextId = 0
    }

    private let state = Mutex(State())

    var isAlive: Bool { state.withLock { $0.isAlive } }

    func end() {
        let locks = state.withLock { state in
            state.isAlive = false
            defer { state.locks = [:] }
            return state.locks
        }
        for lock in locks.values { lock.release() }
    }

    /// The lock, released at the latest when this life ends; `nil` when it has ended.
    func hold(_ lock: any StoreLock) -> (any StoreLock)? {
        let id = state.withLock { state -> Int? in
            guard state.isAlive else { return nil }
            state.nextId += 1
            state.locks[state.nextId] = lock
            return state.nextId
        }
        guard let id else {
            lock.release()
            return nil
        }
        return HeldLock(life: self, id: id)
    }

    private func release(_ id: Int) {
        let lock = state.withLock { $0.locks.removeValue(forKey: id) }
        lock?.release()
    }

    private struct HeldLock: StoreLock {
        let life: Lifeline
        let id: Int

        func release() { life.release(id) }
    }
}
