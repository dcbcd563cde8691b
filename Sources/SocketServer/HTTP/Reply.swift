internal import Dispatch
internal import Synchronization

/// The one answer to one request. A reply that is dropped unsent answers 500, so no client waits for ever.
public final class Reply: Sendable {
    private let connection: Connection
    private let exchange: UInt64
    private let isSent = Atomic<Bool>(false)

    init(_ connection: Connection, exchange: UInt64) {
        self.connection = connection
        self.exchange = exchange
    }

    /// Sends the answer, from any thread; at once when called on the lane's queue. Later calls are ignored, and so
    /// is an answer whose connection has gone.
    public func send(_ response: HTTPResponse) {
        guard !isSent.exchange(true, ordering: .relaxed) else { return }
        let (connection, exchange) = (connection, exchange)
        if connection.lane.isCurrent {
            connection.deliver(response, exchange: exchange)
        } else {
            connection.lane.async { connection.deliver(response, exchange: exchange) }
        }
    }

    /// The same for a caller that knows to be on the lane's queue, at less cost.
    public func sendOnLane(_ response: HTTPResponse) {
        dispatchPrecondition(condition: .onQueue(connection.lane.queue))
        guard !isSent.exchange(true, ordering: .relaxed) else { return }
        connection.deliver(response, exchange: exchange)
    }

    deinit {
        guard !isSent.load(ordering: .relaxed) else { return }
        let (connection, exchange) = (connection, exchange)
        connection.lane.async { connection.deliver(nil, exchange: exchange) }
    }
}
