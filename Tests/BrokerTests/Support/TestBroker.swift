import AssertionMint
import JOSE
import SocketServer
import Synchronization
import Testing

@testable import Broker

/// The broker's routes behind a real socket server, over a store in memory.
final class TestBroker: Sendable {
    static let publicURL = "https://broker.example"
    static let mintURL = url(.clientAssertion)

    static func url(_ kind: TokenKind) -> String { publicURL + Route.mint(kind).pattern.rawValue }

    let database: MemoryDatabase
    let log: LogFile
    let port: UInt16
    let clock: WallClock
    private let directories: DirectoryKeeper
    private let next: NextDirectory
    private let server: HTTPServer

    /// - Parameters:
    ///   - lanes: one store a lane, as in the service.
    ///   - eventLog: where mints are logged instead of `log`.
    ///   - failures: the limit on failed authentications.
    ///   - certificates: by what a request says in `X-Test-Certificate`, as if its connection had shown that certificate.
    ///   - makeStore: another store than the one in memory.
    init(
        _ directory: Directory, clock: WallClock = .system, lanes count: Int = 2,
        readiness: @escaping @Sendable () async -> ReadinessReport = { ReadinessReport(parts: []) },
        isLoaded: Bool = true, checks: VainChecks = VainChecks(),
        writingTo eventLog: EventLog? = nil,
        failures: FailedAuthentications = FailedAuthentications(),
        certificates: [String: ClientCertificate] = [:],
        makeStore: (@Sendable (Lane, MemoryDatabase) -> any AssertionStore)? = nil
    ) async throws {
        let (database, log) = (MemoryDatabase(), try LogFile())
        let next = NextDirectory(directory)
        self.database = database
        self.log = log
        self.clock = clock
        self.next = next
        let directories = DirectoryKeeper { next.value.withLock { $0 } }
        if isLoaded {
            database.setRevision(directory.revision)
            await directories.reload(newerThan: .min)
        }
        self.directories = directories
        let lanes = (0..<count).map { Lane(index: $0) }
        let stores = lanes.map { lane in
            makeStore?(lane, database)
                ?? MemoryAssertionStore(lane: lane, database: database)
        }
        let authenticator = Authenticator(
            uris: try #require(MintURIs(origin: Self.publicURL)), verifier: DPoPVerifier(),
            keys: PublicKeyCache(), failures: failures,
            takesCertificates: !certificates.isEmpty)
        let mint = MintRoute(
            authenticator: authenticator, directories: directories, stores: stores,
            log: eventLog ?? log.log, clock: clock)
        let consume = ConsumeRoute(
            authenticator: authenticator, directories: directories, stores: stores, checks: checks,
            log: eventLog ?? log.log, clock: clock)
        let handler = BrokerHandler(
            mint: mint, consume: consume, keySets: KeySetRoute(directories: directories),
            readiness: Readiness(clock: clock, probe: readiness), log: log.log, clock: clock)
        server = try HTTPServer(
            HTTPServerConfiguration(address: "127.0.0.1", port: 0), lanes: lanes,
            handler: CertifyingHandler(handler, certificates))
        port = server.port
        try server.start()
    }

    /// Puts another declaration into the database, as an admin command does: the broker finds out by itself.
    func declare(_ directory: Directory) {
        next.value.withLock { $0 = directory }
        database.setRevision(directory.revision)
    }

    /// What a loader would read from now on, without a new revision in the database.
    func setLoader(_ directory: Directory) { next.value.withLock { $0 = directory } }

    func nonce() throws -> String { try Sample.nonces().current(now: clock.seconds) }

    /// A good proof of `install` for a mint call now.
    func proof(
        _ install: Install, for kind: TokenKind = .clientAssertion,
        _ change: (inout DPoPProof) -> Void = { _ in }
    ) throws -> String {
        try install.proof(for: Self.url(kind), iat: clock.seconds, nonce: try nonce(), change)
    }

    func send(_ call: MintCall) async throws -> WireResponse {
        let connection = try WireConnection(port: port)
        try await connection.send(call.octets)
        return try await connection.response()
    }

    func send(_ call: ConsumeCall) async throws -> WireResponse {
        let connection = try WireConnection(port: port)
        try await connection.send(call.octets)
        return try await connection.response()
    }

    /// A request without a body.
    func send(_ method: String, _ path: String, _ fields: [String] = []) async throws
        -> WireResponse
    {
        let connection = try WireConnection(port: port)
        let head = ["\(method) \(path) HTTP/1.1", "Host: localhost"] + fields
        try await connection.send(head.joined(separator: "\r\n") + "\r\n\r\n")
        return try await connection.response(hasBody: method != "HEAD")
    }

    func stop() async { await server.drain(grace: .seconds(5)) }

    private final class NextDirectory: Sendable {
        let value: Mutex<Directory>
        init(_ directory: Directory) { value = Mutex(directory) }
    }
}
