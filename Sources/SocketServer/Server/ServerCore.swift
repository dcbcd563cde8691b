internal import Glibc
internal import Synchronization

/// What every connection of one server shares.
final class ServerCore: Sendable {
    let handler: any HTTPHandler
    let limits: HTTPLimits
    let deadlines: HTTPDeadlines
    let door: DoorRules
    let ledger: ConnectionLedger
    let observer: QuietObserver
    /// Room for a whole head, and some more so that one read takes it.
    let inputCapacity: Int
    /// `nil` when no proxy is trusted to hand on certificates.
    let forwarded: ForwardedVerifier?
    private let tls: Locked<TLSContext?>
    private let draining = Atomic<Bool>(false)

    init(
        _ configuration: HTTPServerConfiguration, lanes: Int, handler: any HTTPHandler,
        tls: TLSContext?, forwarded: ClientAuthorities?, door: DoorRules
    ) {
        self.handler = handler
        self.tls = Locked(tls)
        self.door = door
        let observer = QuietObserver(configuration.observe)
        self.observer = observer
        self.forwarded = configuration.trustedProxies?.certificates.flatMap { form in
            forwarded.map {
                ForwardedVerifier(
                    form, authorities: $0, observer: observer, now: configuration.now)
            }
        }
        limits = configuration.limits
        deadlines = configuration.deadlines
        inputCapacity = max(configuration.limits.head, 32 * 1024)
        ledger = ConnectionLedger(
            lanes: lanes, maximum: configuration.maximumConnections,
            maximumPerNetwork: configuration.maximumConnectionsPerAddress)
    }

    var isDraining: Bool { draining.load(ordering: .acquiring) }

    func startDraining() { draining.store(true, ordering: .releasing) }

    var currentTLS: TLSContext? { tls.withLock(\.self) }

    /// Connections accepted from now on use this identity.
    func replaceTLS(_ context: TLSContext) { tls.withLock { $0 = context } }

    /// The handler's answer with the rejection's status, and with the field that status asks for.
    func answer(to rejection: HTTPRejection, from remote: RemoteAddress) -> HTTPResponse {
        var response = handler.answer(to: rejection, from: remote)
        response.status = rejection.status
        if rejection == .tunnelRefused,
            !response.headers.contains(where: { $0.name.utf8.equals(lowercase: "allow") })
        {
            response.headers.append(("Allow", "GET, HEAD, POST"))
        }
        return ResponseEncoder.isLegal(response) ? response : HTTPResponse(status: rejection.status)
    }

    /// Takes over an accepted socket. On the lane's queue.
    func open(_ descriptor: Int32, _ remote: RemoteAddress, on lane: Lane, place: Int) {
        lane.readClock()
        let context = currentTLS
        let session = context?.makeSession()
        guard context == nil || session != nil else {
            close(descriptor)
            return ledger.release(door.counted(remote), lane: place)
        }
        Connection(
            descriptor: descriptor, remote: remote, tls: session, lane: lane, place: place,
            server: self
        ).open()
    }
}
