import Synchronization

/// Takes the first of several answers and hands it to the one task that waits for it.
final class FirstAnswer<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case waiting(CheckedContinuation<Value, Never>)
        case filled(Value)
    }

    private let state = Mutex(State.empty)

    /// Gives the answer; all but the first are dropped.
    func fill(_ value: Value) {
        let waiter: CheckedContinuation<Value, Never>? = state.withLock { state in
            switch state {
            case .empty:
                state = .filled(value)
                return nil
            case .waiting(let continuation):
                state = .filled(value)
                return continuation
            case .filled:
                return nil
            }
        }
        waiter?.resume(returning: value)
    }

    /// Waits for the first answer. Called once.
    func value() async -> Value {
        await withCheckedContinuation { continuation in
            let answer: Value? = state.withLock { state in
                if case .filled(let value) = state { return value }
                state = .waiting(continuation)
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }
}
