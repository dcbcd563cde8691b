import AssertionMint
import JOSE
import SocketServer

/// One running broker: its lanes, their stores, the directory and the socket server, wired together.
struct Service: Sendable {
    let configuration: ServeConfiguration
    let server: HTTPServer
    let directories: DirectoryKeeper
    let repository: DirectoryRepository
    let log: EventLog
    let clock: WallClock
    private let stores: [PostgresLaneStore]
    private let refresher: DirectoryRefresher
    private let maintenance: MaintenanceTimer

    /// The port it listens on.
    var port: UInt16 { server.port }

    /// Starts to serve.
    ///
    /// A database that cannot be reached is waited for, with 503 and a red readiness until then; one with the wrong schema, and
    /// a client whose key cannot be used, stop the start.
    init(
        _ configuration: ServeConfiguration, conninfo: String, log: EventLog, clock: WallClock
    ) async throws(CommandError) {
        let migrator = try Migrations.migrator(configuration.migrationsDirectory)
        let control = ControlConnection(conninfo: conninfo)
        let repository = DirectoryRepository(
            connection: control, keys: SigningKeys(), clock: clock)
        let pendingKeys = PendingKeyWatch(keys: repository.keys) { client, kid, error in
            log.write("key.unready", at: clock.microseconds()) {
                $0.member("client_id", client.rawValue)
                $0.member("kid", kid)
                $0.member("cause", error.description)
            }
        }
        let directories = Self.directories(
            repository, pendingKeys: pendingKeys,
            takesCertificates: configuration.takesCertificates, log: log, clock: clock)
        try await Self.checkAtStart(migrator, control, directories)

        let lanes = (0..<configuration.lanes).map { Lane(index: $0) }
        stores = lanes.map {
            PostgresLaneStore(lane: $0, configuration: .init(conninfo: conninfo))
        }
        let authenticator = try Self.authenticator(configuration)
        let mint = MintRoute(
            authenticator: authenticator, directories: directories, stores: stores, log: log,
            clock: clock)
        let consume = ConsumeRoute(
            authenticator: authenticator, directories: directories, stores: stores, log: log,
            clock: clock)
        let clockWatch = ClockWatch()
        let probe = ReadinessProbe(
            database: StoreReadiness(
                connection: ControlConnection(
                    conninfo: conninfo, connectLimitMilliseconds: 1500,
                    statementLimitMilliseconds: 1500),
                schemaVersion: migrator.newestVersion),
            directories: directories, clock: clockWatch)
        let handler = BrokerHandler(
            mint: mint, consume: consume, keySets: KeySetRoute(directories: directories),
            readiness: Readiness(clock: clock) { await probe.report() }, log: log, clock: clock)
        do {
            server = try HTTPServer(
                Self.http(configuration, log: log, clock: clock), lanes: lanes, handler: handler)
            try server.start()
        } catch {
            throw .unavailable(error.description)
        }
        refresher = DirectoryRefresher(directories: directories) {
            let look = try await repository.look()
            clockWatch.observe(look.clock).map { Self.write($0, to: log, at: clock.microseconds()) }
            return look.revision
        } tryAgain: {
            await pendingKeys.look(at: $0)
        }
        maintenance = MaintenanceTimer(
            StoreMaintenance(connection: ControlConnection(conninfo: conninfo)), log: log,
            clock: clock)
        self.configuration = configuration
        self.directories = directories
        self.repository = repository
        self.log = log
        self.clock = clock
        let listening = server.listening
        log.write("broker.started", at: clock.microseconds()) {
            switch listening {
            case .tcp(let address, let port):
                $0.member("address", address.description)
                $0.member("port", port)
            case .unix(let path): $0.member("unix", path)
            }
            $0.member("lanes", configuration.lanes)
            if let directory = directories.current { $0.member("revision", directory.revision) }
        }
    }

    /// Finishes what is in flight within the grace time, then closes everything.
    func stop(signal: Int32) async {
        log.write("broker.stopping", at: clock.microseconds()) { $0.member("signal", signal) }
        await server.drain(grace: .seconds(configuration.shutdownGraceSeconds))
        refresher.stop()
        maintenance.stop()
        for store in stores { await store.close() }
        log.write("broker.stopped", at: clock.microseconds()) { _ in }
        await log.flush()
    }

    private static func directories(
        _ repository: DirectoryRepository, pendingKeys: PendingKeyWatch, takesCertificates: Bool,
        log: EventLog, clock: WallClock
    ) -> DirectoryKeeper {
        DirectoryKeeper {
            try await repository.ensureNonceSecret()
            return try await repository.load()
        } report: { outcome in
            switch outcome {
            case .success(let directory):
                Task { await pendingKeys.look(at: directory) }
                log.write("declaration.loaded", at: clock.microseconds()) {
                    $0.member("revision", directory.revision)
                    $0.member("clients", directory.clients.count)
                }
                for (client, reason) in directory.unusableClients {
                    log.write("key.unusable", at: clock.microseconds()) {
                        $0.member("client_id", client.rawValue)
                        $0.member("cause", reason)
                    }
                }
                // Closed, and said so: the client's other gates still work, and one declaration must not take the replicas
                // of all clients out of service.
                for client in takesCertificates ? [] : directory.clientsWithCertificates {
                    log.write("gate.unusable", at: clock.microseconds()) {
                        $0.member("client_id", client.rawValue)
                        $0.member("cause", "mtls: this server asks for no client certificates")
                    }
                }
            case .failure(let error):
                log.write("declaration.failed", at: clock.microseconds()) {
                    $0.member("cause", String(describing: error))
                }
            }
        }
    }

    private static func write(_ remark: ClockWatch.Remark, to log: EventLog, at now: Int64) {
        switch remark {
        case .off(let ahead):
            log.write("clock.off", at: now) { $0.member("ahead_us", ahead) }
        case .right: log.write("clock.right", at: now) { _ in }
        }
    }

    private static func authenticator(
        _ configuration: ServeConfiguration
    ) throws(CommandError) -> Authenticator {
        guard let uris = MintURIs(origin: configuration.publicURL.origin) else {
            throw .refused("public_url cannot be used")
        }
        return Authenticator(
            uris: uris,
            verifier: DPoPVerifier(
                maximumAge: configuration.dpopMaximumAge,
                maximumAhead: configuration.dpopMaximumAhead),
            keys: PublicKeyCache(),
            failures: FailedAuthentications(configuration.failedAuthentications),
            takesCertificates: configuration.takesCertificates)
    }

    private static func http(
        _ configuration: ServeConfiguration, log: EventLog, clock: WallClock
    ) -> HTTPServerConfiguration {
        var http = HTTPServerConfiguration(
            configuration.listen,
            tls: configuration.tls?.configuration)
        http.trustedProxies = configuration.trustedProxies
        http.limits.hosts = configuration.hosts
        // For each lane its poller, its doorbell, and its database connection with a second number for the same socket, which at
        // times is there twice; for the rest a handful.
        http.sparedDescriptors = 64 + 6 * configuration.lanes
        http.observe = { event in
            log.write("http.limited", at: clock.microseconds()) {
                $0.member("cause", String(describing: event))
            }
        }
        return http
    }
}
