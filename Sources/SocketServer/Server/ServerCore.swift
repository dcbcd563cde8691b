internal import Glibc
internal import Synchronization

/// What every connection of one server shares.
final class ServerCore: Sendable {
    let handler: any HTTPHandler
    let limits: HTTPLimits
    let deadlines: HTTPDeadlines
    let ledger: ConnectionLedger
    /// Room for a whole head, and some more so that one read takes it.
    let inputCapacity: Int
    private let tls: TLSContext?
    private let draining = Atomic<Bool>(false)

    init(
        _ configuration: HTTPServerConfiguration, lanes: Int, handler: any HTTPHandler,
        tls: TLSContext?
    ) {
        self.handler = handler
        self.tls = tls
        limits = configuration.limits
        deadlines = configuration.deadlines
        inputCapacity = max(configuration.limits.head, 32 * 1024)
        ledger = ConnectionLedger(
            lanes: lanes, maximum: configuration.maximumConnections,
            maximumPerNetwork: configuration.maximumConnectionsPerAddress)
    }

    var isDraining: Bool { draining.load(ordering: .acquiring) }

    func startDraining() { draining.store(true, ordering: .releasing) }

    /// Takes over an accepted socket. On the lane's queue.
    func open(_ descriptor: Int32, _ remote: RemoteAddress, on lane: Lane, place: Int) {
        lane.readClock()
        let session = tls?.makeSession()
        guard tls == nil || session != nil else {
            close(descriptor)
            return ledger.release(remote, lane: place)
        }
        Connection(
            descriptor: descriptor, remote: remote, tls: session, lane: lane, place: place,
            server: self
        ).open()
    }
}
