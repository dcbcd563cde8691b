import AssertionMint
import JOSE
import SocketServer

/// One mint call on its way through the house.
///
/// Sendable: it is only touched on its lane's queue, where the server, the store and the route all run.
final class MintExchange: @unchecked Sendable {
    let request: HTTPRequest
    let reply: Reply
    let lane: Lane
    var event: MintEvent
    /// Once the credentials were found good.
    var caller: Caller?
    /// Made while the database commits; leaves only when it did.
    var token: Result<Secret<String>, KeyError>?
    /// What goes on once a device has made it, when the database was faster.
    var whenSigned: (() -> Void)?
    /// How often it was given to a store: a signature for an earlier time comes too late.
    var turn = 0

    init(request: HTTPRequest, reply: Reply, lane: Lane, event: MintEvent) {
        self.request = request
        self.reply = reply
        self.lane = lane
        self.event = event
    }
}
