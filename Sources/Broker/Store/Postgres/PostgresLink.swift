import CLibpq
import Glibc

/// Owns one libpq connection, non-blocking from the start.
///
/// Sendable by this rule: whoever holds it uses it on one queue at a time; giving it to another
/// queue is the last thing the giver does with it.
final class PostgresLink: @unchecked Sendable {
    private let connection: OpaquePointer

    /// Connects, waiting on this thread: resolving a host name blocks, so never call it on a lane.
    ///
    /// - Parameter conninfo: A libpq URI or keyword list. All of it is passed on, several hosts and
    ///   `target_session_attrs` among it; only what it leaves out gets defaults here.
    init(connecting conninfo: String, deadline: MonotonicTime) throws(PostgresError) {
        guard let settings = ConnectionSettings(conninfo) else { throw .malformedConnectionString }
        guard let connection = settings.withPointers({ PQconnectStartParams($0, $1, 0) }) else {
            throw .cannotConnect("out of memory")
        }
        self.connection = connection
        // The default writes them to standard error, past the log.
        PQsetNoticeReceiver(connection, { _, _ in }, nil)
        guard PQstatus(connection) != CONNECTION_BAD else { throw .noConnection(lastMessage) }
        var waitsFor = PGRES_POLLING_WRITING
        while waitsFor != PGRES_POLLING_OK {
            if waitsFor == PGRES_POLLING_FAILED { throw .noConnection(lastMessage) }
            let events = waitsFor == PGRES_POLLING_READING ? POLLIN : POLLOUT
            guard wait(for: Int16(events), until: deadline) else {
                throw .cannotConnect("no answer in time")
            }
            waitsFor = PQconnectPoll(connection)
        }
        guard PQsetnonblocking(connection, 1) == 0 else { throw .cannotConnect(lastMessage) }
    }

    deinit { PQfinish(connection) }

    /// The socket's descriptor, owned by libpq.
    var descriptor: Int32 { PQsocket(connection) }

    /// What another connection needs to ask the server to stop what this one runs.
    func canceller() -> Canceller? {
        PQgetCancel(connection).map(Canceller.init)
    }

    // MARK: Steps that never wait

    func sendPrepare(name: String, sql: String) -> Bool {
        PQsendPrepare(connection, name, sql, 0, nil) == 1
    }

    func sendPrepared(name: String, _ parameters: StatementParameters, binaryResult: Bool) -> Bool {
        parameters.withPointers { values, lengths, formats in
            PQsendQueryPrepared(
                connection, name, Int32(values.count), values.baseAddress, lengths.baseAddress,
                formats.baseAddress, binaryResult ? 1 : 0) == 1
        }
    }

    func send(_ sql: String, _ parameters: StatementParameters, binaryResult: Bool) -> Bool {
        parameters.withPointers { values, lengths, formats in
            PQsendQueryParams(
                connection, sql, Int32(values.count), nil, values.baseAddress, lengths.baseAddress,
                formats.baseAddress, binaryResult ? 1 : 0) == 1
        }
    }

    /// A script of several statements, without parameters.
    func sendScript(_ sql: String) -> Bool {
        PQsendQuery(connection, sql) == 1
    }

    enum Flushed { case all, some, failed }

    /// Writes what fits into the socket.
    func flush() -> Flushed {
        switch PQflush(connection) {
        case 0: .all
        case 1: .some
        default: .failed
        }
    }

    /// Reads what the socket has; false when the connection is gone.
    func consumeInput() -> Bool {
        PQconsumeInput(connection) == 1 && PQstatus(connection) == CONNECTION_OK
    }

    enum Received: ~Copyable {
        case result(QueryResult)
        case needsInput
        case done
    }

    func nextResult() -> Received {
        if PQisBusy(connection) == 1 { return .needsInput }
        guard let result = PQgetResult(connection) else { return .done }
        return .result(QueryResult(result))
    }

    /// Whether an idle connection still stands. The server's farewell may lie unread in the socket; a
    /// statement sent after it would end as "perhaps committed" when it certainly never ran.
    func stillStands() -> Bool {
        while isReady(for: Int16(POLLIN), milliseconds: 0) {
            guard consumeInput() else { return false }
        }
        return PQstatus(connection) == CONNECTION_OK
    }

    var lastMessage: String {
        let text = PQerrorMessage(connection).map { String(cString: $0) } ?? ""
        return text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    // MARK: Waiting on this thread

    /// Waits until the socket is ready; false when the deadline passed first.
    func wait(for events: Int16, until deadline: MonotonicTime) -> Bool {
        repeat {
            if isReady(for: events, milliseconds: deadline.millisecondsLeft) { return true }
        } while MonotonicTime.now() < deadline
        return false
    }

    private func isReady(for events: Int16, milliseconds: Int32) -> Bool {
        var descriptor = pollfd(fd: PQsocket(connection), events: events, revents: 0)
        return poll(&descriptor, 1, milliseconds) > 0
    }
}
