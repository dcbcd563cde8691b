import Dispatch
import Synchronization

/// Looks once a second whether the declaration changed, so that key sets and an idle replica follow too; a mint never waits
/// for it, since the batch statement finds an outdated directory by itself. Loads it again every ten seconds while a client
/// has no usable key, since the HSM that was away may be back.
///
/// The next look comes a second after the last one ended: a database that lets everything wait gets no second look.
/// Sendable: `isStopped` is only touched on `queue`.
final class DirectoryRefresher: @unchecked Sendable {
    private let queue = DispatchQueue(label: "broker.refresh")
    private let look: @Sendable () async -> Void
    private var isStopped = false
    private static let looksBetweenTries = 10

    /// - Parameters:
    ///   - revision: asks the database for it.
    ///   - tryAgain: is called every ten seconds with what is current, and may take its time.
    init(
        directories: DirectoryKeeper, revision: @escaping @Sendable () async throws -> Int64,
        tryAgain: @escaping @Sendable (Directory) async -> Void
    ) {
        let looks = Atomic(0)
        look = {
            guard let current = directories.current else {
                await directories.reload(newerThan: .min)
                return
            }
            // A database that does not answer is the readiness probe's to report.
            let moment = MonotonicTime.now()
            guard let newest = try? await revision() else { return }
            directories.confirm(newest, at: moment)
            let isTryDue = looks.add(1, ordering: .relaxed).newValue % Self.looksBetweenTries == 0
            if isTryDue { Task { await tryAgain(current) } }
            guard
                newest != current.revision || (isTryDue && !current.unusableClients.isEmpty)
            else { return }
            await directories.reload(newerThan: current.revision)
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
