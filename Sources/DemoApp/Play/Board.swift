import ClientShim
import Synchronization

/// The one place where events arrive: keeps the view, prints the lines in order, and wakes who waits for a state.
final class Board: Sendable {
    /// How a wait ended.
    enum WaitResult: Equatable, Sendable {
        case reached
        case never
        case tooLong
        case interrupted
    }

    private struct Waiter {
        let target: WaitTarget
        let continuation: CheckedContinuation<WaitResult, Never>
    }

    private struct State {
        var view = PhoneView()
        var waiters: [Int: Waiter] = [:]
        var nextId = 0
        var isInterrupted = false
    }

    private let state = Mutex(State())
    private let painter: Painter
    private let clock: any AuthnClock
    private let startedAt: Int64

    init(painter: Painter, clock: any AuthnClock) {
        self.painter = painter
        self.clock = clock
        startedAt = clock.monotonicMilliseconds()
    }

    var view: PhoneView { state.withLock { $0.view } }
    var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

    func post(_ event: PhoneEvent) {
        let answered = state.withLock { state in
            state.view.apply(event)
            let seconds = Double(clock.monotonicMilliseconds() - startedAt) / 1000
            // Printed under the lock: the lines stand in the order of the events.
            for line in painter.lines(for: event, in: state.view, at: seconds) { say(line) }
            return Self.takeAnswered(&state)
        }
        for (waiter, result) in answered { waiter.continuation.resume(returning: result) }
    }

    /// Ends every wait, now and from now on.
    func interrupt() {
        let waiters = state.withLock { state in
            state.isInterrupted = true
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.continuation.resume(returning: .interrupted) }
    }

    func wait(for target: WaitTarget, atMostMilliseconds limit: Int64) async -> WaitResult {
        let id = state.withLock { state in
            state.nextId += 1
            return state.nextId
        }
        let timer = Task {
            try? await clock.sleep(milliseconds: limit)
            finish(id, .tooLong)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            let answered = state.withLock { state in
                if state.isInterrupted {
                    return [
                        (Waiter(target: target, continuation: continuation), WaitResult.interrupted)
                    ]
                }
                state.waiters[id] = Waiter(target: target, continuation: continuation)
                return Self.takeAnswered(&state)
            }
            for (waiter, result) in answered { waiter.continuation.resume(returning: result) }
        }
    }

    private func finish(_ id: Int, _ result: WaitResult) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.continuation.resume(returning: result)
    }

    private static func takeAnswered(_ state: inout State) -> [(Waiter, WaitResult)] {
        var answered: [(Waiter, WaitResult)] = []
        for (id, waiter) in state.waiters {
            switch state.view.answer(to: waiter.target) {
            case .notYet: continue
            case .reached: answered.append((waiter, .reached))
            case .never: answered.append((waiter, .never))
            }
            state.waiters[id] = nil
        }
        return answered
    }
}
