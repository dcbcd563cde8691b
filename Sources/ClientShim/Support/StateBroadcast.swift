import Synchronization

/// One current state and any number of readers, each with a stream of its own (R-100-01, R-100-02).
///
/// A reader gets the current state first, then each later one in order. Buffers are bounded: a reader
/// far behind loses the oldest states, never the last. Streams end after a terminal state, and when the
/// broadcast goes away.
final class StateBroadcast<State: Sendable & Equatable>: Sendable {
    static var bufferedStates: Int { 64 }

    private struct Readers {
        var current: State
        var isOver: Bool
        var continuations: [Int: AsyncStream<State>.Continuation] = [:]
        var nextId = 0
    }

    private let readers: Mutex<Readers>

    init(_ state: State, isOver: Bool) {
        readers = Mutex(Readers(current: state, isOver: isOver))
    }

    deinit {
        for continuation in readers.withLock({ $0.continuations.values }) { continuation.finish() }
    }

    /// Readers whose streams have not ended.
    var readerCount: Int { readers.withLock { $0.continuations.count } }

    /// Publishes a state, unless it is the current one or the last was terminal.
    func publish(_ state: State, isOver: Bool) {
        // Yielding only queues the state for its reader, so it is safe under the lock and keeps order.
        let ended = readers.withLock { readers -> [AsyncStream<State>.Continuation] in
            guard !readers.isOver, readers.current != state else { return [] }
            readers.current = state
            for continuation in readers.continuations.values { continuation.yield(state) }
            guard isOver else { return [] }
            readers.isOver = true
            defer { readers.continuations = [:] }
            return Array(readers.continuations.values)
        }
        // Ending a stream calls `forget`, which takes the lock.
        for continuation in ended { continuation.finish() }
    }

    /// A stream of its own for each caller.
    func stream() -> AsyncStream<State> {
        let (stream, continuation) = AsyncStream<State>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.bufferedStates))
        let id = readers.withLock { readers -> Int? in
            continuation.yield(readers.current)
            guard !readers.isOver else { return nil }
            readers.nextId += 1
            readers.continuations[readers.nextId] = continuation
            return readers.nextId
        }
        if let id {
            continuation.onTermination = { [weak self] _ in self?.forget(id) }
        } else {
            continuation.finish()
        }
        return stream
    }

    private func forget(_ id: Int) {
        _ = readers.withLock { $0.continuations.removeValue(forKey: id) }
    }
}
