internal import Dispatch
internal import Glibc

/// An HTTP/1.1 server on some lanes.
public final class HTTPServer: Sendable {
    /// What it listens on.
    public let listening: ListeningAddress
    let core: ServerCore
    private let lanes: [Lane]
    private let isTLS: Bool
    private let listener: Listener

    /// Binds and listens; connections wait in the backlog until `start`.
    ///
    /// From here on the process ignores SIGPIPE: a peer that has gone is an error of one write, not of the process.
    /// - Throws: `ServerError` when the address is taken or not allowed, a descriptor is not what it should be, or a TLS
    ///   file cannot be used.
    public init(
        _ configuration: HTTPServerConfiguration, lanes: [Lane], handler: any HTTPHandler
    ) throws(ServerError) {
        signal(SIGPIPE, SIG_IGN)
        guard !lanes.isEmpty else { throw .noLanes }
        if let lane = lanes.first(where: { $0.failure != 0 }) {
            throw .systemCall("epoll_create1", reason: errorText(lane.failure))
        }
        var tls: TLSContext?
        if let files = configuration.tls { tls = try TLSContext(files) }
        let forwarded = try configuration.trustedProxies?.certificates.map {
            certificates throws(ServerError) in try ClientAuthorities.read(certificates)
        }
        // The last step that can fail: a descriptor that was handed over stays its owner's after an error.
        let socket = try ListeningSocket(
            configuration.endpoint, backlog: configuration.backlog,
            allows: {
                $0.isLocal || configuration.tls != nil || configuration.trustedProxies != nil
            })
        let door = DoorRules(
            proxies: configuration.trustedProxies,
            admitsProxiesOnly: tls == nil && !socket.address.isLocal)
        let core = ServerCore(
            configuration, lanes: lanes.count, handler: handler, tls: tls,
            forwarded: forwarded, door: door)
        self.core = core
        self.lanes = lanes
        isTLS = tls != nil
        listening = socket.address
        listener = Listener(
            socket: socket, ledger: core.ledger, door: door, observer: core.observer,
            mostDescriptors: DescriptorLimit.connections(sparing: configuration.sparedDescriptors),
            makeRoom: {
                let lane = lanes[core.ledger.fullestLane]
                lane.async { lane.endLongestIdle(of: core) }
            },
            deal: { descriptor, remote, place in
                let lane = lanes[place]
                lane.async {
                    core.open(descriptor, remote, on: lane, place: place)
                }
            })
    }

    /// The TCP port it listens on; 0 for a Unix socket.
    public var port: UInt16 {
        if case .tcp(_, let port) = listening { port } else { 0 }
    }

    /// Begins to accept.
    public func start() throws(ServerError) {
        listener.start()
    }

    /// Reads the files of a TLS configuration, for `use`. Nothing changes yet.
    /// - Throws: `ServerError` with the file and what is wrong with it, or when this server speaks plain HTTP.
    public func prepare(_ tls: TLSConfiguration) throws(ServerError) -> PreparedTLS {
        guard isTLS else { throw .tlsSetup(reason: "this server was started without TLS") }
        return PreparedTLS(context: try TLSContext(tls))
    }

    /// Uses what `prepare` of this server gave, for the handshakes to come. Connections that are open keep the server's
    /// certificate; their clients' certificates are judged anew with the next request, which is the connection's last.
    /// Session ticket keys are fresh, so no ticket outlives a change of authorities or revocation lists.
    public func use(_ prepared: PreparedTLS) {
        guard isTLS else { return }
        core.replaceTLS(prepared.context)
    }

    /// Reads the files by which the certificates that trusted proxies hand on are judged, for `use`. Nothing changes yet.
    /// - Throws: `ServerError` with the file and what is wrong with it, or when this server takes no such certificates.
    public func prepare(
        _ certificates: ForwardedCertificates
    ) throws(ServerError) -> PreparedForwarding {
        guard core.forwarded != nil else {
            throw .tlsSetup(reason: "this server was started without forwarded certificates")
        }
        return PreparedForwarding(authorities: try ClientAuthorities.read(certificates))
    }

    /// Uses what `prepare` of this server gave, for every request to come.
    public func use(_ prepared: PreparedForwarding) {
        core.forwarded?.replace(prepared.authorities)
    }

    /// What is used for new connections; `nil` for plain HTTP.
    public var tls: PreparedTLS? { core.currentTLS.map(PreparedTLS.init(context:)) }

    /// `prepare`, then `use`. After an error nothing has changed.
    public func reload(_ tls: TLSConfiguration) throws(ServerError) { use(try prepare(tls)) }

    /// How many connections are open.
    public var openConnections: Int { core.ledger.total }

    /// Stops: listening ends, idle connections are closed, requests in flight get their answers with
    /// `Connection: close`. What is still open at the grace time is cut. Returns when no connection is left.
    public func drain(grace: Duration) async {
        core.startDraining()
        await withCheckedContinuation { continuation in
            listener.stop { continuation.resume() }
        }
        forEachConnection { $0.drain() }
        let end = DispatchWorkItem { [self] in forEachConnection { $0.end() } }
        let (seconds, attoseconds) = grace.components
        DispatchQueue.global().asyncAfter(
            deadline: .now() + .seconds(Int(seconds))
                + .nanoseconds(Int(attoseconds / 1_000_000_000)), execute: end)
        await withCheckedContinuation { continuation in
            core.ledger.whenEmpty { continuation.resume() }
        }
        end.cancel()
    }

    private func forEachConnection(_ body: @escaping @Sendable (Connection) -> Void) {
        for lane in lanes {
            let core = core
            lane.async {
                lane.readClock()
                lane.forEachConnection { if $0.server === core { body($0) } }
            }
        }
    }
}
