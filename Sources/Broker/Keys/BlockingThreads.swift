import Dispatch
import Glibc
import JOSE
import Synchronization

/// Threads of its own for calls that may block for as long as somebody else's device likes.
///
/// So many run at once and so many wait; whoever comes on top is refused at once. Everybody is told within the time they
/// give, whether or not the call ever ends. A thread lives while there is work.
final class BlockingThreads: Sendable {
    private struct Job: Sendable {
        let run: @Sendable () -> Void
        let isOver: @Sendable () -> Bool
    }

    private struct State {
        var line: [Job] = []
        var threads = 0
        /// Calls under way that nobody waits for any more.
        var stuck = 0
    }

    private let threadLimit: Int
    private let lineLimit: Int
    private let timers: DispatchQueue
    private let state = Mutex(State())

    /// - Parameters:
    ///   - threads: at most so many calls at once.
    ///   - waiting: at most so many more wait for a thread.
    init(threads: Int = 4, waiting: Int = 64, timers: DispatchQueue = BlockingThreads.timers) {
        threadLimit = threads
        lineLimit = waiting
        self.timers = timers
    }

    private static let timers = DispatchQueue(label: "broker.keys.deadlines")

    /// Why work would be refused at once; `nil` when it would be taken.
    var refusal: KeyError? { state.withLock { refusal(&$0) } }

    private func refusal(_ state: inout State) -> KeyError? {
        if state.stuck >= threadLimit { return .notAnswering }
        return state.line.count >= lineLimit ? .busy : nil
    }

    /// Runs `work` on one of the threads and tells `then`, once, on whatever thread: what it gave, `notAnswering` when that
    /// takes longer than `milliseconds`, or at once why it is not taken.
    func run<Value: Sendable>(
        within milliseconds: Int, _ work: @escaping @Sendable () throws(KeyError) -> Value,
        then: @escaping @Sendable (Result<Value, KeyError>) -> Void
    ) {
        let outcome = Outcome(then)
        let job = Job(
            run: {
                guard outcome.begin() else { return }
                let result: Result<Value, KeyError>
                do throws(KeyError) { result = .success(try work()) } catch {
                    result = .failure(error)
                }
                if outcome.end(result) { self.state.withLock { $0.stuck -= 1 } }
            },
            isOver: { outcome.isOver })
        let (refusal, mustStart) = state.withLock { state -> (KeyError?, Bool) in
            if let refusal = self.refusal(&state) {
                // Those that were told already only take up room.
                state.line.removeAll { $0.isOver() }
                guard self.refusal(&state) == nil else { return (refusal, false) }
            }
            state.line.append(job)
            guard state.threads < threadLimit else { return (nil, false) }
            state.threads += 1
            return (nil, true)
        }
        if let refusal { return outcome.refuse(refusal) }
        timers.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
            outcome.expire { self.state.withLock { $0.stuck += 1 } }
        }
        if mustStart { startThread() }
    }

    /// The same for code that can wait.
    func run<Value: Sendable>(
        within milliseconds: Int, _ work: @escaping @Sendable () throws(KeyError) -> Value
    ) async throws(KeyError) -> Value {
        let result: Result<Value, KeyError> = await withCheckedContinuation { continuation in
            run(within: milliseconds, work) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    private func startThread() {
        let body = Unmanaged.passRetained(ThreadBody { self.workUntilDone() })
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { body in
                // Nobody joins it.
                pthread_detach(pthread_self())
                guard let body else { return nil }
                Unmanaged<ThreadBody>.fromOpaque(body).takeRetainedValue().run()
                return nil
            }, body.toOpaque())
        guard code != 0 else { return }
        // Without a thread those in line are told at their deadlines, or by a thread that comes with the next work.
        body.release()
        state.withLock { $0.threads -= 1 }
    }

    private func workUntilDone() {
        while true {
            let job = state.withLock { state -> Job? in
                guard !state.line.isEmpty else {
                    state.threads -= 1
                    return nil
                }
                return state.line.removeFirst()
            }
            guard let job else { return }
            job.run()
        }
    }
}

/// What a thread runs, as the one object that C hands on.
private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// One piece of work and whether whoever asked was told: exactly once.
private final class Outcome<Value: Sendable>: Sendable {
    private enum Stage {
        case waiting
        case working
        /// Told that it takes too long, while the call goes on.
        case abandoned
        case over
    }

    private let then: @Sendable (Result<Value, KeyError>) -> Void
    private let stage = Mutex(Stage.waiting)

    init(_ then: @escaping @Sendable (Result<Value, KeyError>) -> Void) { self.then = then }

    var isOver: Bool { stage.withLock { $0 == .over } }

    /// False when it is too late to begin.
    func begin() -> Bool {
        stage.withLock { stage in
            guard stage == .waiting else { return false }
            stage = .working
            return true
        }
    }

    /// - Returns: whether nobody waited for it any more.
    func end(_ result: Result<Value, KeyError>) -> Bool {
        let wasAbandoned = stage.withLock { stage in
            defer { stage = .over }
            return stage == .abandoned
        }
        if !wasAbandoned { then(result) }
        return wasAbandoned
    }

    func refuse(_ error: KeyError) {
        stage.withLock { $0 = .over }
        then(.failure(error))
    }

    /// - Parameter count: is called, before anybody is told, when the call goes on without anybody waiting. It may end before
    ///   it is counted.
    func expire(_ count: () -> Void) {
        let before = stage.withLock { stage in
            defer {
                switch stage {
                case .waiting, .over: stage = .over
                case .working, .abandoned: stage = .abandoned
                }
            }
            return stage
        }
        if before == .working { count() }
        if before == .working || before == .waiting { then(.failure(.notAnswering)) }
    }
}
