/// What a connection waits for, and since when. A deadline is set once when a wait begins: octets that trickle in do
/// not move it.
struct ConnectionTiming {
    enum Phase {
        case handshake
        /// The rest of a head, and on a new connection its first octet.
        case headArrives
        case requestArrives
        case answer
        case write
        case idle
        case firstWhileDraining
        case linger
    }

    private(set) var phase = Phase.handshake
    private(set) var phaseStart: UInt64
    private var phaseExchange = UInt64.max
    /// When the request of `requestExchange` began.
    private var requestStart: UInt64
    private var requestExchange = UInt64.max

    init(openedAt now: UInt64) {
        phaseStart = now
        requestStart = now
    }

    /// The first request is counted from here, not from its first octet: a connection that stays silent is idle.
    mutating func handshakeDone(at now: UInt64) {
        (requestExchange, requestStart) = (0, now)
    }

    /// - Returns: the new deadline, or `nil` when the wait goes on.
    mutating func enter(
        _ phase: Phase, exchange: UInt64, now: UInt64, _ deadlines: HTTPDeadlines
    ) -> UInt64? {
        guard phase != self.phase || exchange != phaseExchange else { return nil }
        self.phase = phase
        phaseExchange = exchange
        phaseStart = now
        if phase == .headArrives || phase == .requestArrives {
            // Head and whole request are counted from the same moment.
            if requestExchange != exchange { (requestExchange, requestStart) = (exchange, now) }
            phaseStart = requestStart
        }
        return phaseStart &+ deadlines.nanoseconds(phase)
    }
}
