import Synchronization

/// The provider's state behind its lock. Bodies are short and pure: no I/O and no signature under the lock.
final class SharedState: Sendable {
    private let state: Mutex<SandboxState>

    /// A provider that remembers nothing yet.
    init(clients: [String: Client]) {
        state = Mutex(SandboxState(clients: clients))
    }

    /// Reads or changes the state as one step.
    func change<Value: Sendable, Failure: Error>(
        _ body: (inout SandboxState) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try state.withLock { (state) throws(Failure) in try body(&state) }
    }
}
