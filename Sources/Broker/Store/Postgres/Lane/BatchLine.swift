/// A line of records of one kind, as the pipeline sees it: whatever the records are.
///
/// Everything happens on the lane's queue.
protocol BatchWork: AnyObject {
    var statement: LaneStatement { get }

    /// Whether nothing waits to be sent.
    var isEmpty: Bool { get }

    /// Puts what waits into a batch and gives it as parameters of `statement`; `nil` when nothing is left to send. What
    /// waited too long is answered instead.
    func makeBatch(now: MonotonicTime) -> StatementParameters?

    /// The batch is with the database: runs what its callers want done meanwhile.
    func workWhileCommitting()

    /// Takes the answer to the batch; the verdicts are handed out by `answerDecided`.
    ///
    /// - Returns: `false` when it is not of the agreed shape; the batch still stands.
    func decide(_ result: borrowing QueryResult) -> Bool

    /// Answers every record that `decide` found a verdict for.
    func answerDecided()

    /// Puts a batch that certainly did not commit back to the front. Its records keep their time limit, so this ends.
    func takeBack()

    /// Answers a batch whose outcome is unknown, or that was refused.
    func giveUp(_ fault: StoreFault)

    /// Answers what waits beyond its time limit.
    func expire(now: MonotonicTime, _ fault: StoreFault)

    /// Answers everything with `closed`, now and from now on.
    func close()
}

/// The records of one kind that wait, and the batch of them that is with the database.
///
/// The methods each record goes through are compiled for mints as such: looking types up at run time took a twentieth of
/// a mint's time.
final class BatchLine<Kind: BatchKind>: BatchWork {
    private struct Waiting {
        let record: Kind.Record
        /// `nil` once it ran, or when there is none.
        var whileCommitting: (@Sendable () -> Void)?
        let then: @Sendable (Kind.Verdict) -> Void
        let sendBy: MonotonicTime
    }

    private struct InFlight {
        let batch: Kind.Batch
        var entries: [Waiting]
        let sentAt: MonotonicTime
    }

    private let configuration: PostgresLaneStore.Configuration
    private var kind: Kind
    private var waiting = WaitingLine<Waiting>()
    private var inFlight: InFlight?
    private var decided: [(entry: Waiting, verdict: Kind.Verdict)] = []
    private var isClosed = false

    init(_ kind: Kind, configuration: PostgresLaneStore.Configuration) {
        self.kind = kind
        self.configuration = configuration
    }

    /// Lets one record wait for the next batch, or answers it at once.
    @specialized(where Kind == MintBatches)
    func add(
        _ record: Kind.Record, whileCommitting: (@Sendable () -> Void)? = nil,
        then: @escaping @Sendable (Kind.Verdict) -> Void
    ) {
        if isClosed { return then(Kind.unavailable(.closed)) }
        guard Kind.isWellFormed(record) else { return then(Kind.unavailable(.malformedRecord)) }
        guard waiting.count < configuration.queueLimit else {
            return then(Kind.unavailable(.overloaded))
        }
        waiting.append(
            Waiting(
                record: record, whileCommitting: whileCommitting, then: then,
                sendBy: .now().adding(milliseconds: configuration.waitingLimit)))
    }

    // MARK: BatchWork

    var statement: LaneStatement { Kind.statement }
    var isEmpty: Bool { waiting.isEmpty }

    @specialized(where Kind == MintBatches)
    func makeBatch(now: MonotonicTime) -> StatementParameters? {
        var entries: [Waiting] = []
        while entries.count < configuration.batchLimit, let entry = waiting.popFirst() {
            if entry.sendBy < now {
                entry.then(Kind.unavailable(.waitedTooLong))
            } else {
                entries.append(entry)
            }
        }
        guard !entries.isEmpty else { return nil }
        let batch = kind.batch(of: entries.map { $0.record }, now: now.wholeMicroseconds)
        inFlight = InFlight(batch: batch, entries: entries, sentAt: now)
        return kind.parameters(of: batch, now: configuration.wallClock())
    }

    @specialized(where Kind == MintBatches)
    func workWhileCommitting() {
        for index in 0..<(inFlight?.entries.count ?? 0) {
            let work = inFlight?.entries[index].whileCommitting
            inFlight?.entries[index].whileCommitting = nil
            work?()
        }
    }

    @specialized(where Kind == MintBatches)
    func decide(_ result: borrowing QueryResult) -> Bool {
        guard let done = inFlight,
            let verdicts = kind.verdicts(
                result, on: done.batch, sentAt: done.sentAt.wholeMicroseconds),
            verdicts.count == done.entries.count
        else { return false }
        inFlight = nil
        var again: [Waiting] = []
        for (entry, verdict) in zip(done.entries, verdicts) {
            if let verdict { decided.append((entry, verdict)) } else { again.append(entry) }
        }
        waiting.putBack(again)
        return true
    }

    @specialized(where Kind == MintBatches)
    func answerDecided() {
        let decided = self.decided
        self.decided = []
        for (entry, verdict) in decided { entry.then(verdict) }
    }

    func takeBack() {
        guard let batch = inFlight else { return }
        inFlight = nil
        kind.giveUp(batch.batch)
        waiting.putBack(batch.entries)
    }

    func giveUp(_ fault: StoreFault) {
        guard let lost = inFlight else { return }
        inFlight = nil
        kind.giveUp(lost.batch)
        for entry in lost.entries { entry.then(Kind.unavailable(fault)) }
    }

    func expire(now: MonotonicTime, _ fault: StoreFault) {
        while let entry = waiting.first, entry.sendBy < now {
            _ = waiting.popFirst()
            entry.then(Kind.unavailable(fault))
        }
    }

    func close() {
        isClosed = true
        giveUp(.closed)
        while let entry = waiting.popFirst() { entry.then(Kind.unavailable(.closed)) }
    }
}

extension MonotonicTime {
    fileprivate var wholeMicroseconds: Int64 { Int64(nanoseconds / 1000) }
}
