#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// `demo-app check`: a whole sign-in as each client, until the first step that does not hold.
struct CheckCommand {
    let readyFile: String
    let clientId: String?

    /// - Returns: whether every step held.
    func run() async -> Bool {
        let ready: ReadyFile
        do { ready = try ReadyFile(path: readyFile) } catch {
            say("demo-app: \(error.reason)")
            return false
        }
        let clients = ready.clients.filter { clientId == nil || $0.clientId == clientId }
        guard !clients.isEmpty else {
            say("demo-app: no such client in \(readyFile)")
            return false
        }
        for client in clients {
            say("\(client.clientId) (\(client.alg))")
            do throws(StepFailure) {
                try await SignInRun(ready: ready, client: client).run()
            } catch {
                say("  FAILED at \(error.step): \(error.reason)")
                return false
            }
        }
        return true
    }
}

/// A step that did not hold.
struct StepFailure: Error {
    let step: String
    let reason: String
}

/// Writes a line at once: it must be on the screen when its step is done, also through a pipe.
func say(_ line: String) {
    var bytes = Array((line + "\n").utf8)[...]
    while !bytes.isEmpty {
        let count = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        // A reader that went away is no reason to fail a check.
        guard count > 0 else { return }
        bytes = bytes.dropFirst(count)
    }
}

/// Prints one line a step.
func report(_ step: String, _ details: String = "") {
    let padding = String(repeating: " ", count: max(1, 18 - step.count))
    say("  \(step)\(details.isEmpty ? "" : padding + details)")
}
