import Dispatch

/// Looks once a second whether the declaration changed, so that key sets and an idle replica follow too; a mint never waits
/// for it, since the batch statement finds an outdated directory by itself.
///
/// The next look comes a second after the last one ended: a database that lets everything wait gets no second look.
/// Sendable: `isStopped` is only touched on `queue`.
final class DirectoryRefresher: @unchecked Sendable {
    private let queue = DispatchQueue(label: "broker.refresh")
    private let look: @Sendable () async -> Void
    private var isStopped = false

    init(directories: DirectoryKeeper, revision: @escaping @Sendable () async throws -> Int64) {
        look = {
            guard let known = directories.current?.revision else {
                await directories.reload(newerThan: .min)
                return
            }
            // A database that does not answer is the readiness probe's to report.
            guard let newest = try? await revision(), newest != known else { return }
            await directories.reload(newerThan: known)
        }
        queue.async { self.schedule() }
    }

    func stop() {
        queue.async { self.isStopped = true }
    }

    private func schedule() {
        guard !isStopped else { return }
        queue.asyncAfter(deadline: .now() + 1) {
            guard !self.isStopped else { return }
            Task {
                await self.look()
                self.queue.async { self.schedule() }
            }
        }
    }
}
