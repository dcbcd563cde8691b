import Foundation
import Synchronization

/// When a campaign begins no further run.
typealias Deadline = ContinuousClock.Instant

extension Deadline {
    var isOver: Bool { .now >= self }
}

/// Runs simulations on threads of their own: each run is one thread's work from beginning to end.
enum Workers {
    /// What became of every plan that did not go well, and how many there were.
    static func run(_ plans: [RunPlan], until end: Deadline? = nil) async -> Campaign.Outcome {
        await run(count: plans.count, until: end) { plans[$0] }
    }

    /// The same for plans that are made when they are needed.
    ///
    /// - Parameter end: when no further run is begun.
    static func run(
        count: Int, until end: Deadline? = nil, _ plan: @escaping @Sendable (Int) -> RunPlan
    ) async -> Campaign.Outcome {
        let shared = Shared(end)
        let threads = max(1, ProcessInfo.processInfo.activeProcessorCount)
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            let left = Countdown(threads) { done.resume() }
            for _ in 0..<threads {
                Thread.detachNewThread {
                    shared.work(count, plan)
                    left.down()
                }
            }
        }
        return shared.outcome.withLock { $0 }
    }

    private final class Countdown: Sendable {
        private let left: Atomic<Int>
        private let atZero: @Sendable () -> Void

        init(_ count: Int, _ atZero: @escaping @Sendable () -> Void) {
            left = Atomic(count)
            self.atZero = atZero
        }

        func down() {
            if left.subtract(1, ordering: .sequentiallyConsistent).newValue == 0 { atZero() }
        }
    }

    private final class Shared: Sendable {
        private let next = Atomic(0)
        private let end: Deadline?
        let outcome = Mutex(Campaign.Outcome())
        /// Ten of a kind say no more than one.
        private static let mostFailures = 10

        init(_ end: Deadline?) { self.end = end }

        func work(_ count: Int, _ plan: @Sendable (Int) -> RunPlan) {
            while true {
                let index = next.add(1, ordering: .sequentiallyConsistent).oldValue
                let isEnough = outcome.withLock {
                    $0.failures.count + $0.errors.count >= Self.mostFailures
                }
                guard index < count, !isEnough else { return }
                if let end, end.isOver {
                    outcome.withLock { $0.isCutShort = true }
                    return
                }
                do {
                    let report = try Simulation.run(plan(index))
                    outcome.withLock {
                        $0.count += 1
                        if !report.violations.isEmpty { $0.failures.append(report) }
                    }
                } catch {
                    outcome.withLock { $0.errors.append("\(error)") }
                }
            }
        }
    }
}
