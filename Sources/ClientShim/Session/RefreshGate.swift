import Synchronization

/// Performs what `RefreshMachine` decides: one refresh at a time in this process.
final class RefreshGate: Sendable {
    typealias Answer = Result<SessionRecord, RefreshError>

    private struct State {
        var machine = RefreshMachine()
        var callers: [Int: FirstAnswer<Answer>] = [:]
        var nextId = 0
    }

    private let state = Mutex(State())

    /// Callers that wait now.
    var waiting: Int { state.withLock { $0.callers.count } }

    /// Joins the refresh under way, or starts `run`. A cancelled caller gets `Network` at once; the
    /// refresh goes on and its result is stored all the same.
    func refresh(
        on executor: any TaskExecutor, _ run: @escaping @Sendable () async -> Answer
    ) async throws(RefreshError) -> SessionRecord {
        let answer = FirstAnswer<Answer>()
        let (id, effects) = state.withLock { state in
            state.nextId += 1
            state.callers[state.nextId] = answer
            return (state.nextId, state.machine.handle(.arrived(state.nextId)))
        }
        if effects.contains(.run) {
            Task(executorPreference: executor) { self.finish(await run()) }
        }
        let result = await withTaskCancellationHandler {
            await answer.value()
        } onCancel: {
            self.leave(id)
        }
        return try result.get()
    }

    private func finish(_ result: Answer) {
        let waiting = state.withLock { state in
            let effects = state.machine.handle(.finished)
            return effects.flatMap { effect -> [FirstAnswer<Answer>] in
                guard case .deliver(let ids) = effect else { return [] }
                return ids.compactMap { state.callers.removeValue(forKey: $0) }
            }
        }
        for caller in waiting { caller.fill(result) }
    }

    private func leave(_ id: Int) {
        let caller = state.withLock { state in
            state.machine.handle(.left(id)).contains(.dismiss(id))
                ? state.callers.removeValue(forKey: id) : nil
        }
        caller?.fill(.failure(.Network))
    }
}

/// Why a session could not be refreshed, by what the app should do.
public enum RefreshError: Error, Equatable, Sendable {
    /// The session is over: sign in again.
    case SignInRequired
    /// No answer; the session is kept. Try again later.
    case Network
    /// The provider answered something else, or this device failed; the session is kept.
    case Server
}
