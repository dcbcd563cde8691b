internal import CEpoll
internal import Dispatch
internal import Glibc

/// One socket: it moves octets between the kernel and a `ConnectionMachine`, asks the handler, and keeps the deadlines.
///
/// Lane-confined: everything here is touched on `lane.queue` only, which makes it safe to send.
final class Connection: @unchecked Sendable {
    let lane: Lane
    let server: ServerCore
    let remote: RemoteAddress
    /// The lane's place among the server's lanes.
    private let place: Int
    private let descriptor: Int32
    private var key: ConnectionTable.Key?

    private var machine: ConnectionMachine
    private var timing: ConnectionTiming
    var tls: TLSSession?
    var socketInput: SocketInput
    private var socketOutput: SocketOutput
    /// Input of an unfinished request, while no buffer is borrowed.
    private var stash: [UInt8] = []
    private var input: InputBuffer?

    private var isAdvancing = false
    /// Whether another turn on the lane is asked for.
    private var isTurnDue = false
    private var isLingering = false
    private var lingered = 0
    private(set) var isClosed = false

    /// Requests that are served and octets that are answered in one turn: whoever pipelines without end must leave the lane to
    /// others in between.
    private static let requestsAtOnce = 32
    private static let flushThreshold = 32 * 1024
    /// Octets that are read and dropped after the last answer, in one turn and in all. Enough for a client that sends the whole
    /// of a refused body before it looks for the answer; the linger deadline ends it earlier for a slow one.
    private static let droppedAtOnce = 256 * 1024
    private static let lingerLimit = 64 * 1024 * 1024

    /// - Parameter descriptor: a connected non-blocking socket, which the connection closes.
    init(
        descriptor: Int32, remote: RemoteAddress, tls: TLSSession?, lane: Lane, place: Int,
        server: ServerCore
    ) {
        self.descriptor = descriptor
        self.remote = remote
        self.tls = tls
        self.lane = lane
        self.place = place
        self.server = server
        socketInput = SocketInput(descriptor)
        socketOutput = SocketOutput(descriptor)
        machine = ConnectionMachine(
            limits: server.limits,
            peer: Peer(
                address: remote, isTLS: tls != nil, proxies: server.door.trusted(remote),
                forwarded: server.door.trusted(remote) == nil ? nil : server.forwarded))
        machine.isDraining = server.isDraining
        timing = ConnectionTiming(openedAt: lane.now)
    }

    /// Begins to serve. Most clients have already sent something.
    func open() {
        guard let key = lane.add(self, descriptor: descriptor) else { return end() }
        self.key = key
        advance()
    }

    // MARK: Events

    /// What `epoll` reports, edge-triggered: each change once.
    func ready(_ events: UInt32) {
        if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { return end() }
        if events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 {
            socketInput.noteReady(endAnnounced: events & EPOLLRDHUP.rawValue != 0)
        }
        // Or each event would be a turn more than its share.
        if !isTurnDue { advance() }
    }

    /// The handler's answer, or `nil` when it dropped its reply. One for an earlier exchange comes too late.
    func deliver(_ response: HTTPResponse?, exchange: UInt64) {
        guard !isClosed, machine.state == .answering, machine.exchange == exchange else { return }
        if !isAdvancing { lane.readClock() }
        if let response { write(response) } else { reject(.handlerFailed) }
        advance()
    }

    /// What was waited for did not come in time.
    func deadlineExpired() {
        guard !isClosed else { return }
        switch timing.phase {
        case .headArrives where machine.state == .readingHead: reject(.headTimeout)
        case .requestArrives where machine.state == .readingBody: reject(.bodyTimeout)
        case .answer where machine.state == .answering: reject(.handlerTimeout)
        case .write: return abort()
        case .idle, .headArrives, .firstWhileDraining: return leave()
        default: return end()
        }
        advance()
    }

    /// Answers what is in flight as the last on this connection, and closes at once if nothing is. A connection that has not
    /// had its first request yet keeps a moment for it.
    func drain() {
        guard !isClosed else { return }
        machine.isDraining = true
        // A request may have come in this very moment: look once more before closing on it.
        socketInput.noteReady(endAnnounced: false)
        advance()
    }

    /// Since when the connection waits for a next request; `nil` when it does not.
    var idleSince: UInt64? {
        isClosed || isTurnDue || timing.phase != .idle ? nil : timing.phaseStart
    }

    private var isIdle: Bool { machine.state == .idle && !socketOutput.isBlocked }

    // MARK: The loop

    private func advance() {
        guard !isAdvancing, !isClosed else { return }
        isAdvancing = true
        if isLingering {
            dropInput()
        } else if flush() {
            proceed()
        }
        isAdvancing = false
        guard !isClosed else { return }
        putInputAway()
        if machine.state == .finished, !isLingering { startLingering() }
        if machine.isDraining, isIdle, machine.exchange > 0, !isTurnDue { leave() }
        updateDeadline()
    }

    /// Takes steps until something has to be waited for. The loop, not recursion, serves pipelined requests.
    private func proceed() {
        if tls?.isHandshaking == true, !shakeHands() { return }
        var left = Self.requestsAtOnce
        while !isClosed {
            if left <= 0, machine.state == .idle {
                flush()
                return takeAnotherTurn()
            }
            if socketOutput.gathered >= Self.flushThreshold {
                guard flush() else { return }
                return takeAnotherTurn()
            }
            var consumed = 0
            let step = machine.step(currentInput, consumed: &consumed)
            if consumed > 0 { input?.consume(consumed) }
            switch step {
            case .needInput:
                if read() { continue }
                flush()
                return
            case .admit(let head):
                left -= 1
                admit(head)
            case .sendContinue:
                socketOutput.append(on: lane) { $0 += "HTTP/1.1 100 Continue\r\n\r\n".utf8 }
            case .handle(let request):
                let reply = Reply(self, exchange: machine.exchange)
                server.handler.handle(request, on: lane, reply: reply)
            case .reject(let rejection): reject(rejection)
            case .awaitAnswer, .finish:
                flush()
                return
            }
        }
    }

    /// Goes on behind whatever else the lane has to do.
    private func takeAnotherTurn() {
        guard !isTurnDue, !isClosed else { return }
        isTurnDue = true
        lane.async { [self] in
            isTurnDue = false
            guard !isClosed else { return }
            lane.readClock()
            advance()
        }
    }

    private func admit(_ head: HTTPRequestHead) {
        switch standing {
        case .good: break
        case .ending: machine.isDraining = true
        case .over: return reject(.clientCertificateRefused)
        }
        switch server.handler.admit(head, on: lane) {
        case .read(let limit):
            if let rejection = machine.admitted(bodyLimit: limit) { reject(rejection) }
        case .refuse(let response): write(response)
        }
    }

    private func write(_ response: HTTPResponse) {
        guard ResponseEncoder.isLegal(response) else { return reject(.handlerFailed) }
        // The drain may have begun without its turn having come to this connection yet.
        if server.isDraining { machine.isDraining = true }
        encode(response, machine.answered(closes: response.closesConnection))
    }

    private func reject(_ rejection: HTTPRejection) {
        encode(server.answer(to: rejection, from: machine.client), machine.rejected())
    }

    private func encode(_ response: HTTPResponse, _ context: ResponseEncoder.Context) {
        let date = lane.dateField
        socketOutput.append(on: lane) {
            ResponseEncoder.append(response, context, date: date, to: &$0)
        }
    }

    /// - Returns: whether the socket took everything.
    @discardableResult
    func flush() -> Bool {
        switch socketOutput.flush(through: tls, on: lane) {
        case .done: return true
        case .blocked: return false
        case .failed:
            end()
            return false
        }
    }

    // MARK: Input

    private var currentInput: Octets {
        if input == nil, !stash.isEmpty { borrowInput() }
        return input?.octets ?? Octets(start: nil, count: 0)
    }

    @discardableResult
    private func borrowInput() -> InputBuffer {
        if let input { return input }
        let borrowed = lane.takeInput(capacity: server.inputCapacity)
        borrowed.append(stash)
        stash = []
        input = borrowed
        return borrowed
    }

    /// A connection that waits keeps no buffer, only the octets of an unfinished request.
    private func putInputAway() {
        guard let input else { return }
        stash = Array(input.octets)
        lane.giveBack(input)
        self.input = nil
    }

    /// - Returns: whether there is something new for the machine: octets, or the end of the input.
    private func read() -> Bool {
        guard socketInput.mayHaveMore || tls?.hasPendingInput == true else { return false }
        let buffer = borrowInput()
        let count = buffer.fill { room in
            tls == nil ? socketInput.receive(into: room) : receivePlaintext(into: room)
        }
        if socketInput.hasFailed { end() }
        guard count == 0 else { return !isClosed }
        guard socketInput.hasEnded, !isClosed else { return false }
        machine.endInput()
        return true
    }

    // MARK: The end

    /// Lets the last answer arrive: closing a socket that holds unread octets would reset the connection, and the
    /// reset could overtake the answer (RFC 9112 §9.6). So the writing side is shut and the rest is read and dropped.
    func startLingering() {
        tls?.shutDown()
        guard flush() else { return }
        shutdown(descriptor, Int32(SHUT_WR))
        isLingering = true
        socketInput.noteReady(endAnnounced: false)
        dropInput()
    }

    private func dropInput() {
        withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 1) { room in
            let limit = min(lingered + Self.droppedAtOnce, Self.lingerLimit)
            while socketInput.mayHaveMore, lingered < limit {
                lingered += socketInput.receive(into: room)
            }
        }
        if socketInput.hasEnded || socketInput.hasFailed || lingered >= Self.lingerLimit {
            end()
        } else if socketInput.mayHaveMore {
            takeAnotherTurn()
        }
    }

    /// Ends between two requests. TLS has a word for that, and without it the peer could not tell the end from a cut
    /// (RFC 9112 §9.8).
    func leave() {
        tls?.shutDown()
        flush()
        end()
    }

    /// Ends with a reset, so that the kernel does not keep what the peer will not read.
    private func abort() {
        var option = linger(l_onoff: 1, l_linger: 0)
        let size = socklen_t(MemoryLayout.size(ofValue: option))
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, size)
        end()
    }

    /// Closes. The socket leaves the lane's `epoll` before its number can be given to another.
    func end() {
        guard !isClosed else { return }
        isClosed = true
        if let key { lane.remove(key, descriptor: descriptor) }
        close(descriptor)
        (stash, input, tls) = ([], nil, nil)
        server.ledger.release(server.door.counted(remote), lane: place)
    }

    // MARK: Deadlines

    private func updateDeadline() {
        guard !isClosed, let key else { return }
        let deadline = timing.enter(
            phase, exchange: machine.exchange, now: lane.now, server.deadlines)
        if let deadline { lane.setDeadline(deadline, for: key) }
    }

    private var phase: ConnectionTiming.Phase {
        if isLingering { return .linger }
        if socketOutput.isBlocked { return .write }
        if tls?.isHandshaking == true { return .handshake }
        return switch machine.state {
        case .idle where machine.exchange > 0: .idle
        case .idle: machine.isDraining ? .firstWhileDraining : .headArrives
        case .readingHead: .headArrives
        case .admitting, .readingBody, .skippingBody: .requestArrives
        case .answering: .answer
        case .finished: .write
        }
    }

    func handshakeDone() {
        timing.handshakeDone(at: lane.now)
        machine.peer.clientCertificate = tls?.clientCertificate
    }
}
