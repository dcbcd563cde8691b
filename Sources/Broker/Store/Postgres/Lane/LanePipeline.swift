import Dispatch
import SocketServer

/// Sends the batches of a lane's lines over its one connection, one after the other.
///
/// What arrives while a batch is with the database forms the next batch of its kind: no timer decides, and an idle lane
/// sends at once. The lines take turns. A batch whose outcome is unknown is never sent again.
/// Sendable: everything but `init` happens on the lane's queue.
final class LanePipeline: @unchecked Sendable {
    /// A batch of `work`'s, or only its statement, to be prepared: then the line has no batch under way.
    private struct InFlight {
        let work: any BatchWork
        var isPreparing = false
        let answerBy: MonotonicTime
        var isSent = false
    }

    private let lane: Lane
    private let configuration: PostgresLaneStore.Configuration
    private let works: [any BatchWork]
    private let connector: LaneConnector
    /// Whose batch was sent last.
    private var turn = 0
    private var inFlight: InFlight?
    private var isSendScheduled = false
    private var isTickScheduled = false
    /// Set while the answers to a batch are still to be handed out: they come before the signatures of the next.
    private var holdsWork = false

    init(
        lane: Lane, configuration: PostgresLaneStore.Configuration,
        works: [any BatchWork]
    ) {
        self.lane = lane
        self.configuration = configuration
        self.works = works
        connector = LaneConnector(lane: lane, configuration: configuration)
        lane.async { self.connector.start(for: self) }
    }

    /// To be called after a record was added to a line.
    func wake() {
        scheduleSend()
        scheduleTick()
    }

    func close() {
        connector.close()
        inFlight = nil
        for work in works { work.close() }
    }

    // MARK: Sending

    /// Sends at the end of the lane's round, so that all requests that came in together go together.
    private func scheduleSend() {
        guard !isSendScheduled, inFlight == nil else { return }
        isSendScheduled = true
        lane.atEndOfRound {
            self.isSendScheduled = false
            self.sendNext()
        }
    }

    private func sendNext() {
        guard inFlight == nil, let connection = connector.connection,
            works.contains(where: { !$0.isEmpty })
        else { return }
        guard connection.isUsable() else { return connector.reconnect() }
        while let work = nextInTurn() {
            if send(work) { return }
        }
    }

    /// Sends the line's next batch, or has its statement prepared before that. False when nothing is left to send, since
    /// all that waited there had waited too long.
    private func send(_ work: any BatchWork) -> Bool {
        let now = MonotonicTime.now()
        let answerBy = now.adding(milliseconds: configuration.answerLimit)
        let hasLeft: Bool
        if connector.mustPrepare(work.statement) {
            inFlight = InFlight(work: work, isPreparing: true, answerBy: answerBy)
            hasLeft = connector.prepare(work.statement)
        } else {
            guard let parameters = work.makeBatch(now: now) else { return false }
            inFlight = InFlight(work: work, answerBy: answerBy)
            hasLeft = connector.send(work.statement, parameters)
        }
        if !hasLeft {
            // It certainly never left: the next connection may have it.
            takeBackBatch()
            connector.reconnect()
        }
        return true
    }

    /// The next line after the one sent last that has something to send.
    private func nextInTurn() -> (any BatchWork)? {
        for step in 1...works.count {
            let place = (turn + step) % works.count
            guard !works[place].isEmpty else { continue }
            turn = place
            return works[place]
        }
        return nil
    }

    private func workWhileCommitting() {
        guard let inFlight, inFlight.isSent else { return }
        inFlight.work.workWhileCommitting()
    }

    // MARK: What the connection tells

    func connected() { sendNext() }

    func handle(_ event: consuming LaneConnection.Event) {
        switch consume event {
        case .sent:
            inFlight?.isSent = true
            if !holdsWork { workWhileCommitting() }
        case .answered(let result):
            answered(result)
        case .refused(let error):
            refused(error)
        case .lost:
            connector.reconnectLater()
            giveUpBatch(.connectionLost)
        }
    }

    private func answered(_ result: borrowing QueryResult) {
        guard let done = inFlight else { return }
        if done.isPreparing { return prepared(done.work, isAccepted: true) }
        let work = done.work
        guard work.decide(result) else {
            giveUpBatch(.unexpectedAnswer)
            return sendNext()
        }
        inFlight = nil
        connector.succeeded()
        // The next batch leaves first, so that Postgres works while the callers of this one are answered.
        holdsWork = true
        sendNext()
        work.answerDecided()
        holdsWork = false
        workWhileCommitting()
    }

    private func prepared(_ work: any BatchWork, isAccepted: Bool) {
        inFlight = nil
        connector.prepared(work.statement, isAccepted: isAccepted)
        if !send(work) { sendNext() }
    }

    private func refused(_ error: PostgresError) {
        let sqlState = error.sqlState ?? "XX000"
        switch sqlState {
        case "26000", "42P05":
            // A pooler gave us another session than the one that prepared. Nothing ran.
            connector.stopPreparing()
            takeBackBatch()
            sendNext()
        case "40001", "40P01":
            // Rolled back by the server itself, in favour of another batch.
            takeBackBatch()
            sendNext()
        default:
            if error.spoilsConnection {
                connector.reconnectLater()
                giveUpBatch(.refused(sqlState: sqlState))
            } else if let inFlight, inFlight.isPreparing {
                // Sent as text it will be refused as well, and its records get to know why.
                prepared(inFlight.work, isAccepted: false)
            } else {
                giveUpBatch(.refused(sqlState: sqlState))
                sendNext()
            }
        }
    }

    private func takeBackBatch() {
        let work = inFlight?.work
        inFlight = nil
        work?.takeBack()
    }

    private func giveUpBatch(_ fault: StoreFault) {
        let work = inFlight?.work
        inFlight = nil
        work?.giveUp(fault)
    }

    // MARK: Time

    /// One timer for all limits, only while something is outstanding.
    private func scheduleTick() {
        guard !isTickScheduled, inFlight != nil || works.contains(where: { !$0.isEmpty }) else {
            return
        }
        isTickScheduled = true
        let pause = min(250, max(5, min(configuration.waitingLimit, configuration.answerLimit) / 4))
        lane.queue.asyncAfter(deadline: .now() + .milliseconds(pause)) {
            self.isTickScheduled = false
            self.tick()
            self.scheduleTick()
        }
    }

    private func tick() {
        let now = MonotonicTime.now()
        if let inFlight, inFlight.answerBy < now { abandonBatch() }
        let fault: StoreFault = connector.connection == nil ? .notConnected : .waitedTooLong
        for work in works { work.expire(now: now, fault) }
    }

    /// The batch has had its time. The server may be stuck in a lock with it, so it is told to stop; whether it
    /// commits all the same nobody here will know.
    private func abandonBatch() {
        if let canceller = connector.connection?.canceller() {
            // On a thread of its own: a server that is halted accepts, and then says nothing.
            DispatchQueue.global(qos: .utility).async { canceller.requestCancel() }
        }
        connector.reconnectLater()
        giveUpBatch(.timedOut)
    }
}
