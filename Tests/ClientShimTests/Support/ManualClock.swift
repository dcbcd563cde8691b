import Synchronization

@testable import ClientShim

/// A clock that moves when a test says so.
final class ManualClock: AuthnClock {
    private struct Sleeper {
        let until: Int64
        let wake: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var milliseconds: Int64
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var nextId = 0
    }

    private let state: Mutex<State>

    /// - Parameter now: seconds since 1970 UTC.
    init(now: Int64 = 1_800_000_000) {
        state = Mutex(State(milliseconds: now * 1000))
    }

    func now() -> Int64 { state.withLock { $0.milliseconds } / 1000 }
    func monotonicMilliseconds() -> Int64 { state.withLock { $0.milliseconds } }

    /// Tasks that sleep now.
    var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    func advance(seconds: Int64) {
        let due = state.withLock { state in
            state.milliseconds += seconds * 1000
            let due = state.sleepers.filter { $0.value.until <= state.milliseconds }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.wake)
        }
        for wake in due { wake.resume(returning: true) }
    }

    func sleep(milliseconds: Int64) async throws(CancellationError) {
        let id = state.withLock { state in
            state.nextId += 1
            return state.nextId
        }
        let slept = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.cancelled.contains(id) { return true }
                    state.sleepers[id] = Sleeper(
                        until: state.milliseconds + milliseconds, wake: continuation)
                    return false
                }
                if isOver { continuation.resume(returning: false) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(id)
                return state.sleepers.removeValue(forKey: id)
            }
            sleeper?.wake.resume(returning: false)
        }
        if !slept { throw CancellationError() }
    }
}
