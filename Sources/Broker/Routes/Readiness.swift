import Synchronization

/// Answers readiness probes from one result a second at most, however many ask, so that probing cannot load the database.
final class Readiness: Sendable {
    private struct State {
        var newest: (report: ReadinessReport, at: Int64)?
        var waiting: [@Sendable (ReadinessReport) -> Void] = []
    }

    /// Microseconds a result may be reused.
    private static let validity: Int64 = 1_000_000

    private let probe: @Sendable () async -> ReadinessReport
    private let clock: WallClock
    private let state = Mutex(State())

    /// - Parameter probe: tries what a mint needs; must end in bounded time.
    init(clock: WallClock, probe: @escaping @Sendable () async -> ReadinessReport) {
        self.clock = clock
        self.probe = probe
    }

    /// Calls `then` once with a result that is at most a second old.
    func report(_ then: @escaping @Sendable (ReadinessReport) -> Void) {
        let now = clock.microseconds()
        let step = state.withLock { state -> Step in
            if let newest = state.newest, (0..<Self.validity).contains(now - newest.at) {
                return .answer(newest.report)
            }
            state.waiting.append(then)
            return state.waiting.count == 1 ? .start : .wait
        }
        switch step {
        case .answer(let report): then(report)
        case .start: Task { await run() }
        case .wait: break
        }
    }

    private enum Step {
        case answer(ReadinessReport)
        case start
        case wait
    }

    private func run() async {
        let report = await probe()
        let now = clock.microseconds()
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.newest = (report, now)
            return state.waiting
        }
        waiting.forEach { $0(report) }
    }
}
