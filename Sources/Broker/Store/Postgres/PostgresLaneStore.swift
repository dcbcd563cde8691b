import Dispatch

/// The store of one lane over one Postgres connection.
///
/// What arrives while a batch is with the database forms the next batch: no timer decides, and an idle
/// lane sends at once. A batch whose outcome is unknown is never sent again.
/// Sendable: everything but `init` and the connecting happens on `queue`, the lane's.
final class PostgresLaneStore: AssertionStore, @unchecked Sendable {
    private struct Waiting {
        let record: MintRecord
        /// `nil` once it ran.
        var whileCommitting: (@Sendable () -> Void)?
        let then: @Sendable (MintVerdict) -> Void
        let sendBy: MonotonicTime
    }

    private struct InFlight {
        let batch: MintBatch
        var entries: [Waiting]
        let sentAt: MonotonicTime
        let answerBy: MonotonicTime
        var isSent = false
    }

    private enum State {
        case disconnected
        case connecting
        case connected(LaneConnection)
        case closed
    }

    private let queue: DispatchQueue
    private let configuration: Configuration
    /// Connecting blocks (name resolution, if nothing else), so it has a queue of its own.
    private let connector = DispatchQueue(label: "broker.store.connector")
    private var state = State.disconnected
    private var waiting = WaitingLine<Waiting>()
    private var inFlight: InFlight?
    private var leases = LeaseBook()
    private var backoff: Backoff
    private var random = SystemRandomNumberGenerator()
    private var usesPreparedStatement: Bool
    private var isSendScheduled = false
    private var isTickScheduled = false
    /// Set while the answers to a batch are still to be handed out: they come before the signatures of the next.
    private var holdsSignatures = false

    init(queue: DispatchQueue, configuration: Configuration) {
        self.queue = queue
        self.configuration = configuration
        backoff = Backoff(
            shortest: configuration.shortestBackoff, longest: configuration.longestBackoff)
        usesPreparedStatement = configuration.usesPreparedStatement
        queue.async { self.connect() }
    }

    // MARK: AssertionStore

    func record(
        _ record: MintRecord, whileCommitting: @escaping @Sendable () -> Void,
        then: @escaping @Sendable (MintVerdict) -> Void
    ) {
        dispatchPrecondition(condition: .onQueue(queue))
        if case .closed = state { return then(.unavailable(.closed)) }
        guard record.isWellFormed else { return then(.unavailable(.malformedRecord)) }
        guard waiting.count < configuration.queueLimit else {
            return then(.unavailable(.overloaded))
        }
        waiting.append(
            Waiting(
                record: record, whileCommitting: whileCommitting, then: then,
                sendBy: .now().adding(milliseconds: configuration.waitingLimit)))
        scheduleSend()
        scheduleTick()
    }

    /// Answers everything that waits or is under way with `closed`, and gives the connection up.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.closeOnQueue()
                continuation.resume()
            }
        }
    }

    private func closeOnQueue() {
        dropConnection()
        state = .closed
        giveUpBatch(.closed)
        while let entry = waiting.popFirst() { entry.then(.unavailable(.closed)) }
    }

    // MARK: Sending

    /// Sends at the end of the lane's current event, so that all requests of one wake-up go together.
    private func scheduleSend() {
        guard !isSendScheduled, inFlight == nil else { return }
        isSendScheduled = true
        queue.async {
            self.isSendScheduled = false
            self.sendNext()
        }
    }

    private func sendNext() {
        guard case .connected(let connection) = state, inFlight == nil, !waiting.isEmpty else {
            return
        }
        guard connection.isUsable() else { return reconnect() }
        let now = MonotonicTime.now()
        var entries: [Waiting] = []
        while entries.count < configuration.batchLimit, let entry = waiting.popFirst() {
            if entry.sendBy < now {
                entry.then(.unavailable(.waitedTooLong))
            } else {
                entries.append(entry)
            }
        }
        guard !entries.isEmpty else { return }
        let batch = MintBatch(
            entries.map(\.record), leases: &leases, now: now.wholeMicroseconds)
        inFlight = InFlight(
            batch: batch, entries: entries, sentAt: now,
            answerBy: now.adding(milliseconds: configuration.answerLimit))
        let statement: LaneConnection.Statement =
            usesPreparedStatement
            ? .prepared(name: BatchStatement.name) : .text(BatchStatement.sql)
        let parameters = BatchStatement.parameters(of: batch, now: configuration.wallClock())
        if !connection.send(statement, parameters) {
            // It certainly never left: the next connection may have it.
            takeBackBatch()
            reconnect()
        }
    }

    private func handle(_ event: consuming LaneConnection.Event, from connection: LaneConnection) {
        guard case .connected(let current) = state, current === connection else { return }
        switch consume event {
        case .sent:
            inFlight?.isSent = true
            if !holdsSignatures { signWhileCommitting() }
        case .answered(let result):
            answered(result)
        case .refused(let error):
            refused(error)
        case .lost:
            dropConnection()
            giveUpBatch(.connectionLost)
            connectLater()
        }
    }

    private func signWhileCommitting() {
        guard let inFlight, inFlight.isSent else { return }
        let count = inFlight.entries.count
        for index in 0..<count {
            // One at a time, since a callback might close the store.
            let work = self.inFlight?.entries[index].whileCommitting
            self.inFlight?.entries[index].whileCommitting = nil
            work?()
        }
    }

    // MARK: Answers

    private func answered(_ result: borrowing QueryResult) {
        guard let done = inFlight else { return }
        guard let answer = BatchStatement.answer(result, to: done.batch) else {
            return giveUpBatch(.unexpectedAnswer)
        }
        inFlight = nil
        backoff.succeeded()
        done.batch.settle(answer, leases: &leases, sentAt: done.sentAt.wholeMicroseconds)
        var again: [Waiting] = []
        var verdicts: [(Waiting, MintVerdict)] = []
        for (index, entry) in done.entries.enumerated() {
            if let verdict = done.batch.verdict(answer.decisions[index], at: index) {
                verdicts.append((entry, verdict))
            } else {
                again.append(entry)
            }
        }
        waiting.putBack(again)
        // The next batch leaves first, so that Postgres works while the callers of this one are answered.
        holdsSignatures = true
        sendNext()
        for (entry, verdict) in verdicts { entry.then(verdict) }
        holdsSignatures = false
        signWhileCommitting()
    }

    private func refused(_ error: PostgresError) {
        let sqlState = error.sqlState ?? "XX000"
        switch sqlState {
        case "26000", "42P05":
            // A pooler gave us another session than the one that prepared. Nothing ran.
            usesPreparedStatement = false
            takeBackBatch()
            sendNext()
        case "40001", "40P01":
            // Rolled back by the server itself, in favour of another batch.
            takeBackBatch()
            sendNext()
        default:
            if error.spoilsConnection {
                dropConnection()
                giveUpBatch(.refused(sqlState: sqlState))
                connectLater()
            } else {
                giveUpBatch(.refused(sqlState: sqlState))
                sendNext()
            }
        }
    }

    /// Puts a batch that certainly did not commit back to the front of the line. Its records keep their time
    /// limit, so this ends.
    private func takeBackBatch() {
        guard let batch = inFlight else { return }
        inFlight = nil
        batch.batch.giveUp(leases: &leases)
        waiting.putBack(batch.entries)
    }

    private func giveUpBatch(_ fault: StoreFault) {
        guard let lost = inFlight else { return }
        inFlight = nil
        lost.batch.giveUp(leases: &leases)
        for entry in lost.entries { entry.then(.unavailable(fault)) }
    }

    // MARK: Connecting

    private func connect() {
        guard case .disconnected = state else { return }
        state = .connecting
        let configuration = configuration
        let prepares = usesPreparedStatement
        connector.async {
            let outcome: Result<PostgresLink, PostgresError>
            do throws(PostgresError) {
                let deadline = MonotonicTime.now().adding(milliseconds: configuration.connectLimit)
                let link = try PostgresLink(
                    connecting: configuration.conninfo, deadline: deadline)
                if prepares {
                    try link.prepare(
                        name: BatchStatement.name, sql: BatchStatement.sql, deadline: deadline)
                }
                outcome = .success(link)
            } catch {
                outcome = .failure(error)
            }
            self.queue.async { self.connected(outcome) }
        }
    }

    private func connected(_ outcome: Result<PostgresLink, PostgresError>) {
        guard case .connecting = state else { return }
        state = .disconnected
        switch outcome {
        case .success(let link):
            let connection = LaneConnection(link, queue: queue) { [weak self] connection, event in
                self?.handle(event, from: connection)
            }
            guard let connection else { return connectLater() }
            state = .connected(connection)
            sendNext()
        case .failure(.server(sqlState: "42P05", _)):
            // A pooler's session had the statement already.
            usesPreparedStatement = false
            connect()
        case .failure:
            connectLater()
        }
    }

    private func reconnect() {
        dropConnection()
        connect()
    }

    private func connectLater() {
        let pause = backoff.failed(using: &random)
        queue.asyncAfter(deadline: .now() + .milliseconds(pause)) { self.connect() }
    }

    private func dropConnection() {
        guard case .connected(let connection) = state else { return }
        connection.close()
        state = .disconnected
    }

    // MARK: Time

    /// One timer for all limits, only while something is outstanding.
    private func scheduleTick() {
        guard !isTickScheduled, inFlight != nil || !waiting.isEmpty else { return }
        isTickScheduled = true
        let pause = min(250, max(5, min(configuration.waitingLimit, configuration.answerLimit) / 4))
        queue.asyncAfter(deadline: .now() + .milliseconds(pause)) {
            self.isTickScheduled = false
            self.tick()
            self.scheduleTick()
        }
    }

    private func tick() {
        let now = MonotonicTime.now()
        if let batch = inFlight, batch.answerBy < now { abandonBatch() }
        let fault: StoreFault =
            if case .connected = state { .waitedTooLong } else { .notConnected }
        while let entry = waiting.first, entry.sendBy < now {
            _ = waiting.popFirst()
            entry.then(.unavailable(fault))
        }
    }

    /// The batch has had its time. The server may be stuck in a lock with it, so it is told to stop; whether it
    /// commits all the same nobody here will know.
    private func abandonBatch() {
        if case .connected(let connection) = state, let canceller = connection.canceller() {
            // On a thread of its own: a server that is halted accepts, and then says nothing.
            DispatchQueue.global(qos: .utility).async { canceller.requestCancel() }
        }
        dropConnection()
        giveUpBatch(.timedOut)
        connectLater()
    }
}

extension MonotonicTime {
    fileprivate var wholeMicroseconds: Int64 { Int64(nanoseconds / 1000) }
}
