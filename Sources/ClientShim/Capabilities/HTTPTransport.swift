import Dispatch
import Synchronization

/// Sends one request and reports one outcome: no retry, no redirect followed, certificates verified.
public protocol HTTPTransport: Sendable {
    /// Waits for the outcome without blocking the thread.
    func send(_ request: HTTPRequest) async -> HTTPOutcome

    /// Blocks until the outcome is there, for a caller that owns its thread.
    func sendAndWait(_ request: HTTPRequest) -> HTTPOutcome
}

extension HTTPTransport {
    /// Runs `send` in a task and waits for it. Never call it from a Swift concurrency thread.
    public func sendAndWait(_ request: HTTPRequest) -> HTTPOutcome {
        let slot = OutcomeSlot()
        Task.detached { slot.fill(await send(request)) }
        return slot.wait()
    }
}

/// Carries one outcome from a task to a waiting thread.
private final class OutcomeSlot: Sendable {
    private let outcome = Mutex<HTTPOutcome?>(nil)
    private let isFilled = DispatchSemaphore(value: 0)

    func fill(_ value: HTTPOutcome) {
        outcome.withLock { $0 = value }
        isFilled.signal()
    }

    func wait() -> HTTPOutcome {
        isFilled.wait()
        return outcome.withLock { $0 } ?? .lost(.broken)
    }
}
