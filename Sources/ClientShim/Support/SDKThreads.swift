import Dispatch

/// Where the SDK's work runs (R-100-04). A simulation gives other threads: one, which it steps itself (docs/adr/0015).
struct SDKThreads: Sendable {
    /// Runs the SDK's tasks.
    let executor: any TaskExecutor
    /// Runs a call that may block for seconds, on a thread of its own.
    let callBlocking: @Sendable (_ call: @escaping @Sendable () -> Void) -> Void

    /// The SDK's own threads.
    static func own() -> SDKThreads {
        SDKThreads(executor: SDKExecutor()) { call in
            // A serial queue of its own gets a thread of its own. Calls on one concurrent queue would share the few threads
            // that everything else in the process works on.
            DispatchQueue(label: "authn.assertion").async { call() }
        }
    }
}
