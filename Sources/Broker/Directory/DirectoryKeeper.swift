import Synchronization

/// Holds the newest directory and loads a newer one when somebody found it outdated; many who ask share one load.
final class DirectoryKeeper: Sendable {
    /// Reads the whole declaration at one revision.
    typealias Loader = @Sendable () async throws -> Directory

    private struct State {
        var current: Directory?
        /// When the database last had no newer one than `current`.
        var confirmedAt: MonotonicTime?
        /// Whether a newer one was there and could not be loaded.
        var isBehind = false
        var isLoading = false
        var waiting: [(revision: Int64, resume: @Sendable () -> Void)] = []
        var replacements: [(load: Loader, done: CheckedContinuation<Directory, any Error>)] = []

        mutating func take(_ directory: Directory, confirmedAt moment: MonotonicTime) {
            current = directory
            confirmedAt = moment
            isBehind = false
        }
    }

    private let load: Loader
    private let report: @Sendable (Result<Directory, any Error>) -> Void
    private let state = Mutex(State())

    /// - Parameter report: is told of each load, good or bad.
    init(
        load: @escaping Loader,
        report: @escaping @Sendable (Result<Directory, any Error>) -> Void = { _ in }
    ) {
        self.load = load
        self.report = report
    }

    /// The newest directory; `nil` until the first was loaded.
    var current: Directory? { state.withLock { $0.current } }

    /// The newest directory, with when it was known for certain to be the newest.
    var confirmed: (directory: Directory, at: MonotonicTime)? {
        state.withLock { state in
            guard let current = state.current, let confirmedAt = state.confirmedAt else {
                return nil
            }
            return (current, confirmedAt)
        }
    }

    /// Whether the newest declaration could not be loaded: then no mint commits, since none may on an older one.
    var isBehind: Bool { state.withLock { $0.isBehind } }

    /// Notes that a database that was asked at `moment` has no newer revision than this one.
    func confirm(_ revision: Int64, at moment: MonotonicTime) {
        state.withLock { state in
            guard state.current?.revision == revision else { return }
            state.confirmedAt = max(state.confirmedAt ?? moment, moment)
            state.isBehind = false
        }
    }

    /// Calls `resume` once, after a directory newer than `revision` is current or loading one failed.
    func reload(newerThan revision: Int64, _ resume: @escaping @Sendable () -> Void) {
        let mustStart = state.withLock { state in
            state.waiting.append((revision, resume))
            defer { state.isLoading = true }
            return !state.isLoading
        }
        if mustStart { Task { await run() } }
    }

    /// The same for code that can wait; throws nothing, look at `current` afterwards.
    func reload(newerThan revision: Int64) async {
        await withCheckedContinuation { continuation in
            reload(newerThan: revision) { continuation.resume() }
        }
    }

    /// Loads with `load` instead of the usual loader, in turn with other loads, and makes what it gives current.
    ///
    /// - Throws: what `load` throws; then nothing has changed.
    func replace(_ load: @escaping Loader) async throws -> Directory {
        try await withCheckedThrowingContinuation { done in
            let mustStart = state.withLock { state in
                state.replacements.append((load, done))
                defer { state.isLoading = true }
                return !state.isLoading
            }
            if mustStart { Task { await run() } }
        }
    }

    private func run() async {
        while true {
            await runReplacements()
            // Those who come while this load runs may need a newer one, so they are served by the next.
            let served = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
            guard !served.isEmpty else {
                let isDone = state.withLock { state in
                    if state.waiting.isEmpty, state.replacements.isEmpty { state.isLoading = false }
                    return !state.isLoading
                }
                if isDone { return }
                continue
            }
            if let current, served.allSatisfy({ current.revision > $0.revision }) {
                served.forEach { $0.resume() }
                continue
            }
            let moment = MonotonicTime.now()
            do {
                let directory = try await load()
                state.withLock { $0.take(directory, confirmedAt: moment) }
                report(.success(directory))
            } catch {
                state.withLock { $0.isBehind = true }
                report(.failure(error))
            }
            served.forEach { $0.resume() }
        }
    }

    private func runReplacements() async {
        let replacements = state.withLock { state in
            defer { state.replacements = [] }
            return state.replacements
        }
        for replacement in replacements {
            let moment = MonotonicTime.now()
            do {
                let directory = try await replacement.load()
                state.withLock { $0.take(directory, confirmedAt: moment) }
                report(.success(directory))
                replacement.done.resume(returning: directory)
            } catch {
                replacement.done.resume(throwing: error)
            }
        }
    }
}
