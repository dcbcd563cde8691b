/// The rules of one HTTP/1.1 connection, as a value: octets and answers in, the next step out. It owns no socket, no
/// buffer and no clock. See `ConnectionMachine.md` for the diagram.
struct ConnectionMachine {
    enum State: CaseIterable {
        /// Between requests.
        case idle
        case readingHead
        /// The head is read; the handler is asked.
        case admitting
        case readingBody
        /// The handler has the request.
        case answering
        /// The answer is given; the refused body is read and dropped.
        case skippingBody
        /// The last answer is given.
        case finished
    }

    /// What is to be done next.
    enum Step {
        case needInput
        /// Ask the handler, then call `admitted` or `answered`.
        case admit(HTTPRequestHead)
        /// Write `100 Continue`, then go on.
        case sendContinue
        case handle(HTTPRequest)
        /// Answer it as the connection's last.
        case reject(HTTPRejection)
        case awaitAnswer
        /// Everything is answered: write what is left, then close.
        case finish
    }

    private(set) var state = State.idle
    /// Counts requests, so that a late answer finds out that it is late.
    private(set) var exchange: UInt64 = 0
    /// Set while draining: each answer is the connection's last, and an idle connection is to be closed.
    var isDraining = false

    private let limits: HTTPLimits
    /// What it knows grows with the handshake.
    var peer: Peer
    private var headParser: HeadParser
    private var head: HTTPRequestHead?
    private var body: BodyDecoder?
    private var owesContinue = false
    private var inputEnded = false

    init(limits: HTTPLimits, peer: Peer) {
        self.limits = limits
        self.peer = peer
        headParser = HeadParser(limits: limits)
    }

    /// Whose request is being read: whom a trusted proxy speaks for once the head tells, else the socket's peer.
    var client: RemoteAddress { head?.remote ?? peer.address }

    /// Takes what it can from the input and says what is to be done.
    /// - Parameters:
    ///   - bytes: the input not yet consumed; after `needInput` the same and some more.
    ///   - consumed: how much of it is done with.
    mutating func step(_ bytes: Octets, consumed: inout Int) -> Step {
        switch state {
        case .idle:
            guard !bytes.isEmpty else { return starve() }
            state = .readingHead
            return step(bytes, consumed: &consumed)
        case .readingHead: return readHead(bytes, &consumed)
        case .admitting, .answering: return .awaitAnswer
        case .readingBody: return readBody(bytes, &consumed)
        case .skippingBody: return skipBody(bytes, &consumed)
        case .finished: return .finish
        }
    }

    /// The peer will send nothing more. What it sent before is still answered.
    mutating func endInput() {
        inputEnded = true
    }

    /// The handler wants the body.
    mutating func admitted(bodyLimit: Int) -> HTTPRejection? {
        guard state == .admitting, let head else { return nil }
        do throws(HTTPRejection) {
            body = try BodyDecoder(head.framing, limit: bodyLimit, limits: limits)
            owesContinue = head.expectsContinue && head.framing != .none
            state = .readingBody
            return nil
        } catch {
            return error
        }
    }

    /// The request has its answer.
    /// - Parameter closes: the handler's own wish to end the connection.
    /// - Returns: how the answer is written.
    mutating func answered(closes: Bool) -> ResponseEncoder.Context {
        var context = ResponseEncoder.Context(
            isTLS: peer.isTLS, closes: closes || isDraining)
        guard let head else {
            context.closes = true
            state = .finished
            return context
        }
        context.isHead = head.method == "HEAD"
        context.isHTTP10 = head.isHTTP10
        if !head.keepsAlive { context.closes = true }
        if state == .admitting, head.framing != .none, !context.closes {
            context.closes = !startSkipping(head)
            if !context.closes { return context }
        }
        if context.closes {
            state = .finished
        } else {
            startNext()
        }
        return context
    }

    /// The request will get its answer as a rejection: whatever comes after is not read.
    mutating func rejected() -> ResponseEncoder.Context {
        state = .finished
        return ResponseEncoder.Context(
            isHead: head.map { $0.method == "HEAD" } ?? headParser.isHead,
            isHTTP10: head?.isHTTP10 ?? false, isTLS: peer.isTLS, closes: true)
    }

    private mutating func readHead(_ bytes: Octets, _ consumed: inout Int) -> Step {
        switch headParser.parse(bytes, from: peer) {
        case .needMore: return starve()
        case .bad(let rejection): return .reject(rejection)
        case .complete(let head, let end):
            consumed += end
            self.head = head
            state = .admitting
            return .admit(head)
        }
    }

    private mutating func readBody(_ bytes: Octets, _ consumed: inout Int) -> Step {
        // No interim answer after the body is already on its way.
        if owesContinue {
            owesContinue = false
            if bytes.isEmpty, !inputEnded { return .sendContinue }
        }
        switch body?.decode(bytes) {
        case .needMore:
            consumed += bytes.count
            return starve()
        case .bad(let rejection): return .reject(rejection)
        case .complete(let end):
            consumed += end
            guard let head, let octets = body?.takeBody() else { return .reject(.handlerFailed) }
            body = nil
            state = .answering
            return .handle(HTTPRequest(head: head, body: octets))
        case nil: return .reject(.handlerFailed)
        }
    }

    /// The answer is out, so a broken rest can only end the connection.
    private mutating func skipBody(_ bytes: Octets, _ consumed: inout Int) -> Step {
        switch body?.decode(bytes) {
        case .needMore where !inputEnded:
            consumed += bytes.count
            return .needInput
        case .complete(let end):
            consumed += end
            startNext()
            if isDraining { return finish() }
            // What came with the refused body may be the next request already.
            return step(Octets(rebasing: bytes[end...]), consumed: &consumed)
        default: return finish()
        }
    }

    /// Whether the refused body is short enough to read past. After `Expect: 100-continue` nobody knows whether a
    /// body follows the refusal, so the connection cannot go on (RFC 9110 §10.1.1).
    private mutating func startSkipping(_ head: HTTPRequestHead) -> Bool {
        guard !head.expectsContinue,
            let skipper = try? BodyDecoder(
                head.framing, limit: limits.skippedBody, limits: limits, keepsBody: false)
        else { return false }
        body = skipper
        state = .skippingBody
        return true
    }

    private mutating func starve() -> Step {
        guard inputEnded else { return .needInput }
        return state == .idle ? finish() : .reject(.incompleteRequest)
    }

    private mutating func finish() -> Step {
        state = .finished
        return .finish
    }

    private mutating func startNext() {
        exchange += 1
        head = nil
        body = nil
        headParser = HeadParser(limits: limits)
        state = .idle
    }
}
