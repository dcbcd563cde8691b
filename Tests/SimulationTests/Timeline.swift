import Glibc
import Synchronization
import TestKit

/// One run's only source of order: its tasks, its timers and its clock, on one thread.
///
/// A task executor that runs one job after the other when it is told to, in an order drawn from the seed, and moves the clock
/// on to the next timer when no job is left (docs/adr/0015).
///
/// Sendable: everything but `queued` is touched on the thread that made it; a job from another thread is noted as a fault.
final class Timeline: TaskExecutor, @unchecked Sendable {
    private struct Timer {
        let id: Int
        let due: Int64
        let action: @Sendable () -> Void
    }

    /// Milliseconds since 1970 UTC, by the providers' clocks.
    private(set) var milliseconds: Int64 = 1_800_000_000_000
    private let queued = Mutex<[UnownedJob]>([])
    private var timers: [Timer] = []
    private var nextTimer = 0
    private var order: SeededRandom
    private let thread = pthread_self()
    private let stray = Atomic(false)

    /// A run that takes longer than this many jobs and timers never ends.
    static let longestRun = 200_000

    init(seed: UInt64) {
        order = SeededRandom(seed: seed ^ 0x7473_6574)
    }

    /// Whether something ran on another thread: then the run cannot be repeated.
    var hasStrays: Bool { stray.load(ordering: .relaxed) }

    func enqueue(_ job: consuming ExecutorJob) {
        if pthread_equal(pthread_self(), thread) == 0 { stray.store(true, ordering: .relaxed) }
        let job = UnownedJob(job)
        queued.withLock { $0.append(job) }
    }

    /// Draws a number; every draw is part of the seed's order.
    func draw(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &order) }

    /// Runs `action` so many milliseconds from now.
    @discardableResult
    func after(_ delay: Int64, _ action: @escaping @Sendable () -> Void) -> Int {
        nextTimer += 1
        timers.append(Timer(id: nextTimer, due: milliseconds + max(0, delay), action: action))
        return nextTimer
    }

    /// Forgets every timer.
    func clear() { timers = [] }

    func cancel(_ timer: Int) {
        timers.removeAll { $0.id == timer }
    }

    /// Runs until nothing is left to run, or until that time when one is given.
    ///
    /// - Returns: `false` when it would go on for ever.
    func run(until end: Int64? = nil) -> Bool {
        for _ in 0..<Self.longestRun {
            if let job = takeJob() {
                job.runSynchronously(on: asUnownedTaskExecutor())
                continue
            }
            guard let next = timers.indices.min(by: { isBefore(timers[$0], timers[$1]) }),
                timers[next].due <= end ?? .max
            else {
                milliseconds = max(milliseconds, end ?? 0)
                return true
            }
            let timer = timers.remove(at: next)
            milliseconds = max(milliseconds, timer.due)
            timer.action()
        }
        return false
    }

    private func isBefore(_ left: Timer, _ right: Timer) -> Bool {
        (left.due, left.id) < (right.due, right.id)
    }

    /// Any of the jobs that are ready: which one runs first is chance, as it is on several threads.
    private func takeJob() -> UnownedJob? {
        let count = queued.withLock { $0.count }
        guard count > 0 else { return nil }
        let index = count == 1 ? 0 : draw(0...(count - 1))
        return queued.withLock { $0.remove(at: index) }
    }
}
