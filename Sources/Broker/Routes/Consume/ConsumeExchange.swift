import SocketServer

/// One consume call on its way through the house.
///
/// Sendable: it is only touched on its lane's queue, where the server, the store and the route all run.
final class ConsumeExchange: @unchecked Sendable {
    let request: HTTPRequest
    let reply: Reply
    let lane: Lane
    var event: ConsumeEvent

    init(request: HTTPRequest, reply: Reply, lane: Lane, event: ConsumeEvent) {
        self.request = request
        self.reply = reply
        self.lane = lane
        self.event = event
    }
}
