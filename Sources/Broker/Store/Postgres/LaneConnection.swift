import CLibpq
import Glibc
import SocketServer

/// One established connection on a lane's queue: a statement at a time, no call ever waits.
///
/// The lane watches a duplicate of libpq's descriptor, closed after the watch has ended, so libpq may close its own
/// whenever it likes and the lane never watches a descriptor that is closed or someone else's.
/// Sendable: everything happens on the lane's queue.
final class LaneConnection: LaneWatcher, @unchecked Sendable {
    enum Event: ~Copyable {
        /// Every byte of the statement is with the kernel.
        case sent
        /// The statement's answer; the connection is free again.
        case answered(QueryResult)
        /// The server refused the statement; the connection is free again.
        case refused(PostgresError)
        /// The connection is gone. Comes last, and once.
        case lost(String)
    }

    private enum Phase {
        case idle, sending, awaiting, closed
    }

    private let link: PostgresLink
    private let lane: Lane
    private let onEvent: @Sendable (LaneConnection, consuming Event) -> Void
    private let descriptor: Int32
    private var watch: LaneWatch?
    private var phase = Phase.idle
    private var waitsToWrite = false
    private var result: QueryResult?
    private var error: PostgresError?

    /// - Parameter link: Connected and idle; given up by the caller.
    /// - Parameter onEvent: Called on the lane's queue, never from within a call to this object but `send`.
    init?(
        _ link: PostgresLink, lane: Lane,
        onEvent: @escaping @Sendable (LaneConnection, consuming Event) -> Void
    ) {
        let descriptor = fcntl(link.descriptor, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
        self.link = link
        self.lane = lane
        self.onEvent = onEvent
        self.descriptor = descriptor
        watch = lane.watch(descriptor, for: self)
        guard watch != nil else {
            Glibc.close(descriptor)
            return nil
        }
    }

    deinit {
        guard let watch else { return }
        // Whoever let go of it last need not have been on the lane.
        lane.async { [lane, descriptor] in
            lane.end(watch)
            Glibc.close(descriptor)
        }
    }

    /// Whether a statement can be sent; false as well when the server has left meanwhile.
    func isUsable() -> Bool {
        guard case .idle = phase else { return false }
        return link.stillStands()
    }

    /// Hands over one statement. False when it certainly did not leave.
    func send(_ statement: Statement, _ parameters: StatementParameters) -> Bool {
        guard case .idle = phase else { return false }
        switch statement {
        case .prepared(let name):
            return began(link.sendPrepared(name: name, parameters, binaryResult: true))
        case .text(let sql):
            return began(link.send(sql, parameters, binaryResult: true))
        }
    }

    /// Has a statement prepared; `answered` or `refused` follows as for any other. False when it certainly did not leave.
    func prepare(_ statement: LaneStatement) -> Bool {
        guard case .idle = phase else { return false }
        return began(link.sendPrepare(name: statement.name, sql: statement.sql))
    }

    private func began(_ isAccepted: Bool) -> Bool {
        guard isAccepted else { return false }
        phase = .sending
        flush()
        return true
    }

    enum Statement {
        case prepared(name: String)
        case text(String)
    }

    func canceller() -> Canceller? { link.canceller() }

    /// Gives the connection up. No event follows.
    func close() {
        guard let watch = watch.take() else { return }
        phase = .closed
        lane.end(watch)
        Glibc.close(descriptor)
    }

    func ready(_ readiness: LaneReadiness) {
        if readiness.contains(.writing), case .sending = phase { flush() }
        if readiness.contains(.reading) { readable() }
    }

    private func flush() {
        switch link.flush() {
        case .all:
            awaitWriting(false)
            phase = .awaiting
            onEvent(self, .sent)
        case .some:
            awaitWriting(true)
        case .failed:
            lose()
        }
    }

    private func readable() {
        if case .closed = phase { return }
        guard link.consumeInput() else { return lose() }
        switch phase {
        case .idle, .closed:
            return
        case .sending:
            // libpq wants its input read before it can write on.
            flush()
        case .awaiting:
            break
        }
        collect()
    }

    private func collect() {
        while case .awaiting = phase {
            switch link.nextResult() {
            case .needsInput:
                return
            case .result(let received):
                error = error ?? received.error
                result = consume received
            case .done:
                phase = .idle
                let received = result.take()
                if let refusal = error.take() {
                    onEvent(self, .refused(refusal))
                } else if let received = consume received {
                    onEvent(self, .answered(received))
                } else {
                    lose()
                }
                return
            }
        }
    }

    private func lose() {
        guard phase != .closed else { return }
        let message = link.lastMessage
        close()
        onEvent(self, .lost(message))
    }

    private func awaitWriting(_ waits: Bool) {
        guard waits != waitsToWrite, let watch else { return }
        waitsToWrite = waits
        lane.watch(watch, alsoWriting: waits)
    }
}
