import Foundation
import Synchronization

/// Runs simulations on threads of their own: each run is one thread's work from beginning to end.
enum Workers {
    /// What became of every plan that did not go well, and how many there were.
    static func run(_ plans: [RunPlan]) async -> (
        count: Int, failures: [RunReport], errors: [String]
    ) {
        await run(count: plans.count) { plans[$0] }
    }

    /// The same for plans that are made when they are needed.
    static func run(
        count: Int, _ plan: @escaping @Sendable (Int) -> RunPlan
    ) async -> (count: Int, failures: [RunReport], errors: [String]) {
        let shared = Shared()
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
        return shared.outcome.withLock { ($0.count, $0.failures, $0.errors) }
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
        struct Outcome {
            var count = 0
            var failures: [RunReport] = []
            var errors: [String] = []
        }

        private let next = Atomic(0)
        let outcome = Mutex(Outcome())
        /// Ten of a kind say no more than one.
        private static let mostFailures = 10

        func work(_ count: Int, _ plan: @Sendable (Int) -> RunPlan) {
            while true {
                let index = next.add(1, ordering: .sequentiallyConsistent).oldValue
                let isEnough = outcome.withLock {
                    $0.failures.count + $0.errors.count >= Self.mostFailures
                }
                guard index < count, !isEnough else { return }
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
