internal import Dispatch
internal import Glibc

/// Accepts connections and deals them out to the lanes.
///
/// It has a queue of its own instead of a listening socket in each lane's `epoll`: an `epoll` descriptor that Dispatch
/// polls has no waiter of its own, so `EPOLLEXCLUSIVE` would still wake every lane, and whoever wakes first
/// would take most of a burst of long-lived connections. Dealing to the lane with the fewest keeps them even, and the
/// caps are counted in one place. It costs one hop a connection, none a request.
///
/// Everything but `init` runs on `queue`, which makes it safe to send.
final class Listener: @unchecked Sendable {
    /// Gets each accepted socket, and owns it from then on.
    typealias Deal = @Sendable (Int32, RemoteAddress, _ lane: Int) -> Void

    private let queue = DispatchQueue(label: "listener")
    private let socket: ListeningSocket
    private let source: any DispatchSourceRead
    private let ledger: ConnectionLedger
    private let door: DoorRules
    private let observer: QuietObserver
    /// Connections that the process has descriptors for.
    private let mostDescriptors: Int
    private let deal: Deal
    private let makeRoom: @Sendable () -> Void
    private let closing = Locked((isDone: false, callbacks: [@Sendable () -> Void]()))
    private var isActive = false
    private var isPaused = false
    private var isRetryDue = false
    private var isStopped = false

    private static let acceptsAtOnce = 64
    /// More than any backlog holds (`net.core.somaxconn` is 4096), and yet an end of it.
    private static let acceptsAtTheEnd = 16_384
    private static let retryInterval = DispatchTimeInterval.milliseconds(250)

    init(
        socket: ListeningSocket, ledger: ConnectionLedger, door: DoorRules,
        observer: QuietObserver, mostDescriptors: Int, makeRoom: @escaping @Sendable () -> Void,
        deal: @escaping Deal
    ) {
        self.socket = socket
        self.ledger = ledger
        self.door = door
        self.observer = observer
        self.mostDescriptors = mostDescriptors
        self.makeRoom = makeRoom
        self.deal = deal
        source = DispatchSource.makeReadSource(fileDescriptor: socket.descriptor, queue: queue)
        // Closed only when the source has let go of it.
        source.setCancelHandler { [closing, socket] in
            socket.end()
            let callbacks = closing.withLock { closing in
                closing.isDone = true
                return closing.callbacks
            }
            for callback in callbacks { callback() }
        }
    }

    func start() {
        source.setEventHandler { [weak self] in self?.accept(atMost: Self.acceptsAtOnce) }
        queue.async { [self] in activate() }
    }

    /// Takes what the backlog holds, stops listening, and calls back when the port is free. The backlog of a shared socket is
    /// left to whoever goes on with it.
    func stop(then done: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            let isDone = closing.withLock { closing in
                if !closing.isDone { closing.callbacks.append(done) }
                return closing.isDone
            }
            if isDone { return done() }
            guard !isStopped else { return }
            // Nobody new finds the way any more; who found it is still served.
            socket.file?.remove()
            if isActive, !isPaused, !socket.isShared { accept(atMost: Self.acceptsAtTheEnd) }
            isStopped = true
            source.cancel()
            activate()
            resume()
        }
    }

    deinit {
        source.cancel()
        // A source that rests never runs its cancel handler, and must not be released.
        activate()
        if isPaused { source.resume() }
    }

    private func activate() {
        guard !isActive else { return }
        isActive = true
        source.activate()
    }

    private func accept(atMost count: Int) {
        for _ in 0..<count {
            guard !isStopped else { return }
            guard !ledger.isFull else {
                observer.report(.connectionsExhausted, .connections)
                makeRoom()
                return pause()
            }
            guard ledger.total < mostDescriptors else {
                observer.report(
                    .acceptPaused(reason: "the other descriptors are for the database and files"),
                    .accept)
                return pause()
            }
            switch socket.accept() {
            case .none: return
            case .aborted: continue
            case .connection(let descriptor, let remote): admit(descriptor, remote)
            case .exhausted(let error):
                observer.report(.acceptPaused(reason: errorText(error)), .accept)
                pause()
                return
            }
        }
    }

    private func admit(_ descriptor: Int32, _ remote: RemoteAddress) {
        guard door.admits(remote) else {
            close(descriptor)
            return observer.report(.peerNotTrusted(remote), .proxy)
        }
        switch ledger.admit(door.counted(remote)) {
        case .lane(let lane): deal(descriptor, remote, lane)
        case .addressFull:
            close(descriptor)
            observer.report(.addressRefused(remote), .address)
        }
    }

    /// The backlog stays readable while nothing can be accepted: without a pause the source would spin.
    private func pause() {
        guard !isPaused else { return }
        isPaused = true
        source.suspend()
        ledger.whenReleased { [weak self] in
            guard let self else { return }
            queue.async { self.resume() }
        }
        // Nobody tells when another process gives descriptors back, or when a busy connection becomes idle.
        guard !isRetryDue else { return }
        isRetryDue = true
        queue.asyncAfter(deadline: .now() + Self.retryInterval) { [weak self] in
            self?.isRetryDue = false
            self?.resume()
        }
    }

    private func resume() {
        guard isPaused else { return }
        isPaused = false
        source.resume()
    }
}
