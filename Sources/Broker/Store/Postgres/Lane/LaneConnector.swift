import Dispatch
import SocketServer

/// Keeps one connection of a lane to Postgres: connects beside the lane, comes back after a pause when the connection was
/// lost, and knows which statements it has prepared.
///
/// Sendable: everything but the connecting itself happens on the lane's queue.
final class LaneConnector: @unchecked Sendable {
    private enum State {
        case disconnected
        case connecting
        case connected(LaneConnection)
        case closed
    }

    private let lane: Lane
    private let configuration: PostgresLaneStore.Configuration
    private weak var pipeline: LanePipeline?
    /// Connecting blocks (name resolution, if nothing else), so it has a queue of its own.
    private let connecting = DispatchQueue(label: "broker.store.connector")
    private var state = State.disconnected
    private var backoff: Backoff
    private var random = SystemRandomNumberGenerator()
    private var usesPreparedStatements: Bool
    /// By name, on this connection; false: the server would not, so it is sent as text.
    private var isPrepared: [String: Bool] = [:]

    init(lane: Lane, configuration: PostgresLaneStore.Configuration) {
        self.lane = lane
        self.configuration = configuration
        backoff = Backoff(
            shortest: configuration.shortestBackoff, longest: configuration.longestBackoff)
        usesPreparedStatements = configuration.usesPreparedStatement
    }

    /// Begins to connect.
    ///
    /// - Parameter pipeline: Is told of each new connection and of whatever happens on it.
    func start(for pipeline: LanePipeline) {
        self.pipeline = pipeline
        connect()
    }

    /// The connection, while there is one.
    var connection: LaneConnection? {
        if case .connected(let connection) = state { connection } else { nil }
    }

    /// Whether this connection has yet to prepare the statement.
    ///
    /// That is done before its first use and not when connecting: a table that is locked or gone then stops only what
    /// needs it.
    func mustPrepare(_ statement: LaneStatement) -> Bool {
        usesPreparedStatements && isPrepared[statement.name] == nil
    }

    /// Has the statement prepared. False when it certainly did not leave.
    func prepare(_ statement: LaneStatement) -> Bool {
        connection?.prepare(statement) ?? false
    }

    func prepared(_ statement: LaneStatement, isAccepted: Bool) {
        isPrepared[statement.name] = isAccepted
    }

    /// Hands a statement over. False when it certainly did not leave.
    func send(_ statement: LaneStatement, _ parameters: StatementParameters) -> Bool {
        guard let connection else { return false }
        let isPrepared = usesPreparedStatements && isPrepared[statement.name] == true
        return connection.send(
            isPrepared ? .prepared(name: statement.name) : .text(statement.sql), parameters)
    }

    /// From now on statements are sent as text: a pooler between us and the server keeps no prepared ones.
    func stopPreparing() { usesPreparedStatements = false }

    /// The connection has done its work: the next failure is a first one again.
    func succeeded() { backoff.succeeded() }

    func reconnect() {
        drop()
        connect()
    }

    /// Gives the connection up and tries again after a pause.
    func reconnectLater() {
        drop()
        connectLater()
    }

    func close() {
        drop()
        state = .closed
    }

    private func drop() {
        guard let connection else { return }
        connection.close()
        state = .disconnected
    }

    private func connectLater() {
        let pause = backoff.failed(using: &random)
        lane.queue.asyncAfter(deadline: .now() + .milliseconds(pause)) { [weak self] in
            self?.connect()
        }
    }

    private func connect() {
        guard case .disconnected = state else { return }
        state = .connecting
        let configuration = configuration
        connecting.async {
            let outcome: Result<PostgresLink, PostgresError>
            do throws(PostgresError) {
                let deadline = MonotonicTime.now().adding(milliseconds: configuration.connectLimit)
                let link = try PostgresLink(
                    connecting: configuration.conninfo, deadline: deadline)
                outcome = .success(link)
            } catch {
                outcome = .failure(error)
            }
            self.lane.async { self.connected(outcome) }
        }
    }

    private func connected(_ outcome: Result<PostgresLink, PostgresError>) {
        guard case .connecting = state else { return }
        state = .disconnected
        switch outcome {
        case .success(let link):
            let connection = LaneConnection(link, lane: lane) { [weak self] connection, event in
                self?.handle(event, from: connection)
            }
            guard let connection else { return connectLater() }
            state = .connected(connection)
            isPrepared = [:]
            pipeline?.connected()
        case .failure:
            connectLater()
        }
    }

    private func handle(_ event: consuming LaneConnection.Event, from sender: LaneConnection) {
        guard connection === sender else { return }
        pipeline?.handle(event)
    }
}
