internal import CEpoll
public import Dispatch
internal import Glibc
internal import Synchronization

/// A serial queue and the connections that live on it.
///
/// The lane's sockets are held by one `epoll` descriptor, edge-triggered, and one Dispatch source reads that
/// descriptor. A lane that was woken stays with that descriptor for a while before it goes back to Dispatch: a wake-up
/// through Dispatch takes two threads and costs more than a request.
/// All that the lane owns is touched on `queue` only; that is what makes it `Sendable`.
public final class Lane: @unchecked Sendable {
    /// The lane's number, for logs.
    public let index: Int
    /// The serial queue. Work for it goes through `async`: what is put on the queue past the lane has to wait until the
    /// lane leaves its descriptor, a few milliseconds at most.
    public let queue: DispatchQueue

    /// Why the lane has no descriptors, an `errno`; 0 when it has them.
    let failure: Int32
    private let poller: Int32
    private let doorbell: Doorbell?
    private let source: (any DispatchSourceRead)?
    private let timer: any DispatchSourceTimer
    private var table = ConnectionTable()
    private var watchers = WatchTable()
    private var clock = LaneClock()
    private var buffers = BufferPool()
    /// When the timer fires next, nanoseconds of the monotonic clock.
    private var timerFires = UInt64.max
    /// Whether this is one of the rounds of `poll`, and what is to be done at its end.
    private var isInRound = false
    private var atRoundsEnd: [() -> Void] = []
    /// Pieces of work that were given to `async` and have not begun.
    private let posted = Atomic<Int>(0)
    private let isWaiting = Atomic<Bool>(false)

    private static let key = DispatchSpecificKey<ObjectIdentifier>()
    private static let eventsAtOnce = 128
    /// How long a lane stays with its descriptor at most, in nanoseconds, and how long it waits there for something to
    /// happen, in milliseconds: longer than a commit takes, and short beside what its timers are set for.
    private static let longestStay: UInt64 = 10_000_000
    private static let longestWait: Int32 = 2

    /// Makes a lane with no connection. A lane that could not get its descriptor is refused by `HTTPServer.init`.
    public init(index: Int) {
        self.index = index
        queue = DispatchQueue(label: "lane-\(index)")
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        doorbell = descriptor < 0 ? nil : Doorbell(on: descriptor)
        failure = doorbell == nil ? errno : 0
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

    // MARK: Work

    /// Runs a piece of work on the lane's queue, in the order given. From any thread.
    public func async(_ work: @escaping @Sendable () -> Void) {
        posted.add(1, ordering: .sequentiallyConsistent)
        queue.async { [self] in
            posted.subtract(1, ordering: .sequentiallyConsistent)
            work()
        }
        if isWaiting.load(ordering: .sequentiallyConsistent) { doorbell?.ring() }
    }

    /// Runs a piece of work once everything that became ready together has been served. To be called on the lane's queue.
    public func atEndOfRound(_ work: @escaping @Sendable () -> Void) {
        if isInRound { atRoundsEnd.append(work) } else { async(work) }
    }

    // MARK: Descriptors of others

    /// Watches a descriptor for reading. To be called on the lane's queue, like the two below.
    ///
    /// - Parameter watcher: Not kept alive.
    /// - Returns: `nil` when the kernel refuses.
    public func watch(_ descriptor: Int32, for watcher: any LaneWatcher) -> LaneWatch? {
        let watch = LaneWatch(key: watchers.insert(watcher), descriptor: descriptor)
        guard control(EPOLL_CTL_ADD, watch, alsoWriting: false) else {
            watchers.remove(watch.key)
            return nil
        }
        return watch
    }

    /// Whether the watcher is also told when the descriptor can be written to.
    public func watch(_ watch: LaneWatch, alsoWriting: Bool) {
        _ = control(EPOLL_CTL_MOD, watch, alsoWriting: alsoWriting)
    }

    /// Ends the watch; to be called before the descriptor is closed.
    public func end(_ watch: LaneWatch) {
        watchers.remove(watch.key)
        _ = control(EPOLL_CTL_DEL, watch, alsoWriting: false)
    }

    private func control(_ operation: Int32, _ watch: LaneWatch, alsoWriting: Bool) -> Bool {
        var event = epoll_event()
        event.events = EPOLLIN.rawValue | (alsoWriting ? EPOLLOUT.rawValue : 0)
        event.data.u64 = watch.key
        return epoll_ctl(poller, operation, watch.descriptor, &event) == 0
    }

    // MARK: Connections

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

    // MARK: Rounds

    /// Serves what is ready, and what becomes ready soon after. Ends when nothing does, when the queue has other work, and
    /// after a while in any case; what is left over keeps the descriptor readable, and the source fires again.
    private func poll() {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.eventsAtOnce) { events in
            clock.read()
            let leaves = clock.now &+ Self.longestStay
            var timeout: Int32 = 0
            repeat {
                let count = wait(for: events, milliseconds: timeout)
                guard count > 0 else { return }
                clock.read()
                serve(UnsafeBufferPointer(rebasing: events[..<count]))
                timeout = Self.longestWait
            } while clock.now < leaves && posted.load(ordering: .sequentiallyConsistent) == 0
        }
    }

    private func wait(
        for events: UnsafeMutableBufferPointer<epoll_event>, milliseconds: Int32
    ) -> Int {
        guard milliseconds > 0 else {
            return Int(epoll_wait(poller, events.baseAddress, Int32(events.count), 0))
        }
        // Who posts work looks at `isWaiting` after it has counted it, and this looks at the count after it has set
        // `isWaiting`: one of the two sees the other.
        isWaiting.store(true, ordering: .sequentiallyConsistent)
        let hasPosted = posted.load(ordering: .sequentiallyConsistent) > 0
        let count = epoll_wait(
            poller, events.baseAddress, Int32(events.count), hasPosted ? 0 : milliseconds)
        isWaiting.store(false, ordering: .sequentiallyConsistent)
        return Int(count)
    }

    private func serve(_ events: UnsafeBufferPointer<epoll_event>) {
        isInRound = true
        var isWatched = false
        for event in events {
            if WatchTable.holds(event.data.u64) {
                isWatched = true
            } else {
                // A connection closed by an earlier event of this round is no longer in the table.
                table[ConnectionTable.Key(rawValue: event.data.u64)]?.ready(event.events)
            }
        }
        // The database's answer comes last: the next batch then takes along the requests of this round.
        if isWatched {
            for event in events where WatchTable.holds(event.data.u64) {
                watchers[event.data.u64]?.ready(LaneReadiness(event.events))
            }
        }
        isInRound = false
        guard !atRoundsEnd.isEmpty else { return }
        let work = atRoundsEnd
        atRoundsEnd.removeAll(keepingCapacity: true)
        for piece in work { piece() }
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

extension LaneReadiness {
    fileprivate init(_ events: UInt32) {
        self.init()
        if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 {
            formUnion([.reading, .writing])
        }
        if events & EPOLLIN.rawValue != 0 { insert(.reading) }
        if events & EPOLLOUT.rawValue != 0 { insert(.writing) }
    }
}
