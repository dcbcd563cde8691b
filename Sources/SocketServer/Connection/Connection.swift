internal import CEpoll
internal import Glibc

/// One socket: it moves octets between the kernel and a `ConnectionMachine`, asks the handler, and keeps the deadlines.
///
/// Lane-confined: everything here is touched on `lane.queue` only, which makes it safe to send.
final class Connection: @unchecked Sendable {
    let lane: Lane
    let remote: RemoteAddress
    let server: ServerCore
    /// The lane's place among the server's lanes.
    private let place: Int
    private let descriptor: Int32
    private var key: ConnectionTable.Key?
    private(set) var machine: ConnectionMachine
    var tls: TLSSession?

    /// Input of an unfinished request, while no buffer is borrowed.
    private var stash: [UInt8] = []
    private var input: InputBuffer?
    /// Answers not yet handed to the wire.
    private var output: [UInt8] = []
    /// What the socket still has to take.
    private var wire: [UInt8] = []
    private var wireSent = 0

    private var isReadable = true
    private var sawHangUp = false
    private var inputEnded = false
    private var isAdvancing = false
    private(set) var isClosed = false
    var isLingering = false
    var lingered = 0
    var timing: ConnectionTiming

    /// Output beyond this is written before the next pipelined request is looked at.
    private static let flushThreshold = 64 * 1024

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
        machine = ConnectionMachine(limits: server.limits, remote: remote, isTLS: tls != nil)
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
        if events & EPOLLRDHUP.rawValue != 0 { sawHangUp = true }
        if events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 { isReadable = true }
        advance()
    }

    /// The handler's answer. One for an earlier exchange comes too late and is dropped.
    func deliver(_ response: HTTPResponse, exchange: UInt64) {
        guard !isClosed, machine.state == .answering, machine.exchange == exchange else { return }
        if !isAdvancing { lane.readClock() }
        write(response)
        advance()
    }

    /// The handler dropped its reply.
    func fail(exchange: UInt64) {
        guard !isClosed, machine.state == .answering, machine.exchange == exchange else { return }
        lane.readClock()
        reject(.handlerFailed)
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
        default: return end()
        }
        advance()
    }

    /// Answers what is in flight as the last on this connection, and closes at once if nothing is.
    func drain() {
        guard !isClosed else { return }
        machine.isDraining = true
        // A request may have come in the very moment: look once more before closing on it.
        isReadable = true
        advance()
        if !isClosed, !isLingering, machine.state == .idle, wire.isEmpty { end() }
    }

    // MARK: The loop

    private func advance() {
        guard !isAdvancing, !isClosed else { return }
        if isLingering { return linger() }
        isAdvancing = true
        if flush() { proceed() }
        isAdvancing = false
        guard !isClosed else { return }
        putInputAway()
        if machine.state == .finished, wire.isEmpty { startLingering() }
        updateDeadline()
    }

    /// Takes steps until something has to be waited for. The loop, not recursion, serves pipelined requests.
    private func proceed() {
        if tls?.isHandshaking == true, !shakeHands() { return }
        while !isClosed {
            if output.count >= Self.flushThreshold, !flush() { return }
            var consumed = 0
            let step = machine.step(currentInput, consumed: &consumed)
            if consumed > 0 { input?.consume(consumed) }
            switch step {
            case .needInput:
                if read() { continue }
                flush()
                return
            case .admit(let head): admit(head)
            case .sendContinue:
                prepareOutput()
                output.append(contentsOf: "HTTP/1.1 100 Continue\r\n\r\n".utf8)
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

    private func admit(_ head: HTTPRequestHead) {
        switch server.handler.admit(head, on: lane) {
        case .read(let limit):
            if let rejection = machine.admitted(bodyLimit: limit) { reject(rejection) }
        case .refuse(let response): write(response)
        }
    }

    private func write(_ response: HTTPResponse) {
        guard ResponseEncoder.isLegal(response) else { return reject(.handlerFailed) }
        let context = machine.answered(closes: response.closesConnection)
        prepareOutput()
        ResponseEncoder.append(response, context, date: lane.dateField, to: &output)
    }

    private func reject(_ rejection: HTTPRejection) {
        var response = server.handler.answer(to: rejection)
        response.status = rejection.status
        if rejection == .tunnelRefused,
            !response.headers.contains(where: { $0.name.utf8.equals(lowercase: "allow") })
        {
            response.headers.append(("Allow", "GET, HEAD, POST"))
        }
        if !ResponseEncoder.isLegal(response) { response = HTTPResponse(status: rejection.status) }
        let context = machine.rejected()
        prepareOutput()
        ResponseEncoder.append(response, context, date: lane.dateField, to: &output)
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

    private func putInputAway() {
        guard let input else { return }
        stash = Array(input.octets)
        lane.giveBack(input)
        self.input = nil
    }

    /// Whether there is something new for the machine: octets, or the end of the input.
    private func read() -> Bool {
        guard mayReceive || tls?.hasPendingInput == true else { return false }
        let buffer = borrowInput()
        let result =
            tls == nil
            ? buffer.fill(receive) : buffer.fill { room in readPlaintext(into: room) }
        if result > 0 { return true }
        guard !isReadable, inputEnded, !isClosed else { return false }
        machine.endInput()
        return true
    }

    var mayReceive: Bool { isReadable && !isClosed }

    func markInputEnded() {
        inputEnded = true
        isReadable = false
    }

    /// Octets from the socket. Clears `isReadable` when the kernel has no more.
    func receive(into room: UnsafeMutableRawBufferPointer) -> Int {
        guard room.count > 0 else { return 0 }
        while true {
            let count = recv(descriptor, room.baseAddress, room.count, 0)
            if count > 0 {
                // Less than there was room for: the kernel has no more, and tells when it has (epoll(7)). Only the
                // end of the input, once announced, must still be fetched.
                if count < room.count, !sawHangUp { isReadable = false }
                return count
            }
            if count < 0, errno == EINTR { continue }
            let error = errno
            isReadable = false
            if count == 0 { inputEnded = true }
            if count < 0, error != EAGAIN { end() }
            return 0
        }
    }

    // MARK: Output

    private func prepareOutput() {
        if output.capacity == 0 { output = lane.takeOutput() }
    }

    /// Hands everything to the socket.
    /// - Returns: whether all of it was taken; if not, `EPOLLOUT` goes on.
    @discardableResult
    func flush() -> Bool {
        sealOutput()
        while wireSent < wire.count {
            let count = wire.withUnsafeBytes {
                send(
                    descriptor, $0.baseAddress.map { $0 + wireSent }, $0.count - wireSent,
                    Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                wireSent += count
            } else if errno == EAGAIN {
                return false
            } else if errno != EINTR {
                end()
                return false
            }
        }
        wireSent = 0
        if wire.capacity > 0 {
            lane.giveBack(wire)
            wire = []
        }
        return true
    }

    private func sealOutput() {
        if let tls {
            if !output.isEmpty {
                if !tls.seal(output) { return end() }
                lane.giveBack(output)
                output = []
            }
            if tls.hasOutput {
                if wire.capacity == 0 { wire = lane.takeOutput() }
                tls.takeOutput(into: &wire)
            }
        } else if !output.isEmpty {
            if wire.isEmpty {
                swap(&wire, &output)
            } else {
                wire.append(contentsOf: output)
                output.removeAll(keepingCapacity: true)
            }
        }
    }

    var hasUnsentOutput: Bool { !wire.isEmpty }

    // MARK: The end

    /// Lets the last answer arrive: closing a socket that holds unread octets would reset the connection, and the
    /// reset could overtake the answer (RFC 9112 §9.6). So the writing side is shut and the rest is read and dropped.
    private func startLingering() {
        tls?.shutDown()
        guard flush(), !isClosed else { return }
        guard !inputEnded else { return end() }
        shutdown(descriptor, Int32(SHUT_WR))
        isLingering = true
        linger()
    }

    private func linger() {
        isReadable = true
        withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 1) { room in
            while isReadable, !isClosed, lingered < ConnectionTiming.lingerLimit {
                lingered += receive(into: room)
            }
        }
        if inputEnded || lingered >= ConnectionTiming.lingerLimit { return end() }
        updateDeadline()
    }

    /// Ends with a reset, so that the kernel does not keep what the peer will not read.
    private func abort() {
        var option = Glibc.linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &option,
            socklen_t(MemoryLayout.size(ofValue: option)))
        end()
    }

    /// Closes. The socket leaves the lane's `epoll` before its number can be given to another.
    func end() {
        guard !isClosed else { return }
        isClosed = true
        if let key { lane.remove(key, descriptor: descriptor) }
        close(descriptor)
        if let input { lane.giveBack(input) }
        (input, stash, output, wire) = (nil, [], [], [])
        tls = nil
        server.ledger.release(remote, lane: place)
    }

    /// Since when the connection waits for a next request; `nil` when it does not.
    var idleSince: UInt64? {
        !isClosed && !isLingering && machine.state == .idle && timing.phase == .idle
            ? timing.phaseStart : nil
    }

    private func updateDeadline() {
        guard !isClosed, let key else { return }
        let phase: ConnectionTiming.Phase =
            if isLingering { .linger } else if hasUnsentOutput {
                .write
            } else if tls?.isHandshaking
                == true
            { .handshake } else {
                switch machine.state {
                case .idle: machine.exchange == 0 ? .headArrives : .idle
                case .readingHead: .headArrives
                case .admitting, .readingBody, .skippingBody: .requestArrives
                case .answering: .answer
                case .finished: .write
                }
            }
        if let deadline = timing.enter(
            phase, exchange: machine.exchange, now: lane.now, server.deadlines)
        {
            lane.setDeadline(deadline, for: key)
        }
    }
}
