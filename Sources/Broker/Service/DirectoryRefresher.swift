import Dispatch

/// Looks once a second whether the declaration changed, so that key sets and an idle replica follow too; a mint never waits
/// for it, since the batch statement finds an outdated directory by itself.
///
/// Sendable: the timer is never touched after `init` but to cancel it, which Dispatch allows from any thread.
final class DirectoryRefresher: @unchecked Sendable {
    private let timer: any DispatchSourceTimer

    init(directories: DirectoryKeeper, revision: @escaping @Sendable () async throws -> Int64) {
        timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "broker.refresh"))
        timer.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(100))
        timer.setEventHandler {
            Task {
                guard let known = directories.current?.revision else {
                    await directories.reload(newerThan: .min)
                    return
                }
                // A database that does not answer is the readiness probe's to report.
                guard let newest = try? await revision(), newest != known else { return }
                await directories.reload(newerThan: known)
            }
        }
        timer.activate()
    }

    func stop() {
        timer.cancel()
    }
}
