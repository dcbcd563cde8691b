internal import CEpoll
public import Dispatch
internal import Glibc

/// A serial queue and the connections that live on it.
///
/// The lane's sockets are held by one `epoll` descriptor, edge-triggered, and one Dispatch source reads that
/// descriptor. All that the lane owns is touched on `queue` only; that is what makes it `Sendable`.
public final class Lane: @unchecked Sendable {
    /// The lane's number, for logs.
    public let index: Int
    /// The serial queue.
    public let queue: DispatchQueue

    /// Why the lane has no `epoll` descriptor, an `errno`; 0 when it has one.
    let failure: Int32
    private let poller: Int32
    private let source: (any DispatchSourceRead)?
    private let timer: any DispatchSourceTimer
    private var table = ConnectionTable()
    private var clock = LaneClock()
    private var buffers = BufferPool()
    /// When the timer fires next, nanoseconds of the monotonic clock.
    private var timerFires = UInt64.max

    private static let key = DispatchSpecificKey<ObjectIdentifier>()
    private static let eventsAtOnce = 128
    private static let roundsAtOnce = 4

    /// Makes a lane with no connection. A lane that could not get its descriptor is refused by `HTTPServer.init`.
    public init(index: Int) {
        self.index = index
        queue = DispatchQueue(label: "lane-\(index)")
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        failure = descriptor < 0 ? errno : 0
        poller = descriptor
        timer = DispatchSource.makeTimerSource(queue: queue)
        source =
            descriptor < 0
            ? nil : DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        queue.setSpecific(key: Self.key, value: ObjectIdentifier(self))
        source?.setEventHandler { [weak self] in self?.poll() }
        // The descriptor belongs to the source until its last handler has run.
        source?.setCancelHandler { close(descriptor) }
        timer.setEventHandler { [weak self] in self?.expireDeadlines() }
        timer.schedule(deadline: .distantFuture)
        source?.activate()
        timer.activate()
    }

    deinit {
        source?.cancel()
        timer.cancel()
    }

    /// Whether the caller runs on this lane's queue.
    var isCurrent: Bool {
        DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self)
    }

    /// Nanoseconds of the monotonic clock, read once a wake-up.
    var now: UInt64 { clock.now }

    /// To be called when the lane's queue begins something that is not one of its own events.
    func readClock() { clock.read() }

    /// The current `Date` field, with its line end.
    var dateField: [UInt8] { clock.dateField }

    /// Puts a connection's socket under watch.
    func add(_ connection: Connection, descriptor: Int32) -> ConnectionTable.Key? {
        let key = table.insert(connection)
        var event = epoll_event()
        event.events =
            EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        event.data.u64 = key.rawValue
        guard epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) == 0 else {
            table.remove(key)
            return nil
        }
        return key
    }

    /// Ends the watch; to be called before the socket is closed.
    func remove(_ key: ConnectionTable.Key, descriptor: Int32) {
        table.remove(key)
        var event = epoll_event()
        epoll_ctl(poller, EPOLL_CTL_DEL, descriptor, &event)
    }

    /// - Parameter deadline: nanoseconds of the monotonic clock. Replaces the connection's earlier one.
    func setDeadline(_ deadline: UInt64, for key: ConnectionTable.Key) {
        table.setDeadline(deadline, for: key)
        if deadline < timerFires { fireTimer(at: deadline) }
    }

    func forEachConnection(_ body: (Connection) -> Void) {
        for connection in table.connections { body(connection) }
    }

    /// Closes the connection that has waited longest for a next request, to make room for another.
    func endLongestIdle(of server: ServerCore) {
        let idle = table.connections.filter { $0.server === server && $0.idleSince != nil }
        idle.min { ($0.idleSince ?? .max) < ($1.idleSince ?? .max) }?.leave()
    }

    func takeOutput() -> [UInt8] { buffers.takeOutput() }
    func giveBack(_ output: consuming [UInt8]) { buffers.give(output) }
    func takeInput(capacity: Int) -> InputBuffer { buffers.takeInput(capacity: capacity) }
    func giveBack(_ input: InputBuffer) { buffers.give(input) }

    /// Serves what is ready. Bounded, so that the queue's other work has its turn: what is left over keeps the
    /// descriptor readable and the source fires again.
    private func poll() {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.eventsAtOnce) { events in
            for _ in 0..<Self.roundsAtOnce {
                let count = epoll_wait(poller, events.baseAddress, Int32(events.count), 0)
                guard count > 0 else { return }
                clock.read()
                for event in events[..<Int(count)] {
                    // A connection closed by an earlier event of this round is no longer in the table.
                    table[ConnectionTable.Key(rawValue: event.data.u64)]?.ready(event.events)
                }
                guard count == events.count else { return }
            }
        }
    }

    private func expireDeadlines() {
        clock.read()
        timerFires = .max
        for connection in table.expired(at: clock.now) { connection.deadlineExpired() }
        let earliest = table.earliestDeadline
        if earliest != .max { fireTimer(at: earliest) }
    }

    /// One timer serves all deadlines. It is set for the earliest one known; deadlines that move later leave it
    /// alone, and it looks for the next when it fires.
    private func fireTimer(at deadline: UInt64) {
        let soonest = clock.now &+ LaneClock.timerGrain
        timerFires = max(deadline, soonest)
        timer.schedule(
            deadline: DispatchTime(uptimeNanoseconds: timerFires), leeway: .milliseconds(5))
    }
}
