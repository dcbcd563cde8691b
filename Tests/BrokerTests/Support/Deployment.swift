import AssertionMint
import Foundation
import JOSE
import TestKit
import Testing

@testable import Broker

/// A database with a declaration in it, and brokers over it.
struct Deployment: Sendable {
    static let publicURL = "https://broker.example"

    /// Of the scope `consume`.
    let consumeToken: String
    /// The database's URL.
    let url: String
    let token: String
    let directory: TemporaryDirectory
    let keyURI: String
    /// Another key for the client `app`, as its token or TPM holds it.
    private let deviceKey: (uri: String, publicJWK: PublicJWK)?
    /// Further members of the client `app`.
    private let members: String

    /// - Parameters:
    ///   - limits: the `limits` member of the client `app`.
    ///   - members: further members of the client `app`, by the directory that is made for the deployment.
    ///   - deviceKey: the key of the client `app`, which this process need not be able to open; a file's unless given.
    init(
        limits: String = Deployment.ample, in cluster: PostgresCluster? = nil,
        deviceKey: (uri: String, publicJWK: PublicJWK)? = nil,
        members: (TemporaryDirectory) throws -> String = { _ in "" }
    ) async throws {
        self.deviceKey = deviceKey
        let cluster = if let cluster { cluster } else { try await PostgresCluster.shared() }
        url = try await Self.migratedDatabase(in: cluster)
        directory = try TemporaryDirectory()
        self.members = try members(directory)
        keyURI =
            "file:" + (try directory.write(PrivateKey.generate(.ES256).pkcs8PEM(), to: "app.pem"))
        token = "tb_" + Base64URL.encode(try SecureRandom.bytes(32))
        consumeToken = "tb_" + Base64URL.encode(try SecureRandom.bytes(32))
        try await declare(limits: limits)
        let tokens = TokenRepository(connection: ControlConnection(conninfo: url))
        for (id, token, scope) in [
            ("t1", token, APIToken.Scope.mint), ("t2", consumeToken, .consume),
        ] {
            let isCreated = try await tokens.create(
                id: id, tenant: try Sample.tenantId(), digest: SHA256.hash(token.utf8),
                scopes: [scope], label: "", lifetime: 3600)
            #expect(isCreated)
        }
    }

    /// A new database that `broker migrate` brought up to date: `serve` asks for its records.
    static func migratedDatabase(in cluster: PostgresCluster) async throws -> String {
        try await cluster.database(like: "migrated") { url in
            try await Migrator(directory: PostgresCluster.migrations)
                .migrate(ControlConnection(conninfo: url))
        }
    }

    /// More than any test asks for. The default for a client, 2000 and 1000 a second, is less than a fast machine mints.
    static let ample =
        "{install: {burst: 1000000, rate: 1000000, per: 1}, client: {burst: 1000000, rate: 1000000, per: 1}}"

    /// Declares two clients: `app` with these limits, and `other` with ample ones.
    func declare(limits: String, tenantLimits: String = "{}") async throws {
        let client = { (limits: String, keyURI: String, more: String) in
            """
            {alg: "ES256", issuers: ["\(Sample.issuer)"], gates: ["dpop", "backend_token"],
             limits: \(limits), keys: [{uri: "\(keyURI)", state: "active"}]\(more)}
            """
        }
        let text = """
            {tenants: {acme: {limits: \(tenantLimits), clients: {
                app: \(client(limits, deviceKey?.uri ?? keyURI, members)),
                other: \(client(Self.ample, keyURI, "")),
            }}}}
            """
        let plan = try await DeclarationRepository(connection: ControlConnection(conninfo: url))
            .apply(
                try DeclarationReader.read(Array(text.utf8)) { [deviceKey] (uri) throws(KeyError) in
                    if let deviceKey, deviceKey.uri == uri { return deviceKey.publicJWK }
                    return try PrivateKey.load(uri: uri).publicJWK
                }, prune: false, dryRun: false)
        #expect(plan.conflicts.isEmpty)
    }

    /// Starts a broker of its own over the database.
    func start(lanes: Int = 2, clock: WallClock = .system) async throws -> RunningBroker {
        let configuration = try ServeConfiguration(
            Array(
                """
                {listen: {address: "127.0.0.1", port: 0}, public_url: "\(Self.publicURL)",
                 lanes: \(lanes), migrations_directory: "\(PostgresCluster.migrations)"}
                """.utf8), cores: 2)
        let log = try LogFile()
        let service = try await Service(
            configuration, conninfo: url, log: log.log, clock: clock)
        return RunningBroker(service: service, log: log)
    }

    /// Writes the configuration of a `broker serve` over the database, and gives its path.
    ///
    /// - Parameters:
    ///   - url: instead of the administrator's.
    ///   - port: 0 for any.
    ///   - listen: instead of the port.
    ///   - more: further members.
    func configuration(
        _ name: String = "broker.json5", url: String? = nil, port: UInt16 = 0,
        listen: String? = nil, more: String = ""
    ) throws -> String {
        let urlFile = try directory.write(Array("\(url ?? self.url)\n".utf8), to: name + ".url")
        return try directory.write(
            Array(
                """
                {listen: \(listen ?? "{address: \"127.0.0.1\", port: \(port)}"),
                 public_url: "\(Self.publicURL)", lanes: 2, database_url_file: "\(urlFile)", \(more)
                 migrations_directory: "\(PostgresCluster.migrations)"}
                """.utf8), to: name)
    }

    /// Runs SQL as an administrator would.
    @discardableResult
    func query(_ sql: String) async throws -> String {
        try await PostgresCluster.query(sql, at: url)
    }

    /// The database's clock, microseconds since 1970.
    func now() async throws -> Int64 {
        try #require(
            Int64(
                try await query("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"))
        )
    }

    /// When the install's limit is full again by what is stored, microseconds since 1970.
    func fullAgain(_ jkt: String) async throws -> Int64 {
        try #require(
            Int64(try await query("SELECT tat FROM broker.install_rate WHERE dpop_jkt = '\(jkt)'")))
    }

    /// Lets time go by for the install's limit: what is stored moves into the past.
    func letPass(microseconds: Int64, for jkt: String) async throws {
        try await query(
            "UPDATE broker.install_rate SET tat = tat - \(microseconds) WHERE dpop_jkt = '\(jkt)'")
    }

    /// Lets time go by for keys and what is declared: moments move into the past.
    func letPassForKeys(_ seconds: Int) async throws {
        let step = "interval '\(seconds) seconds'"
        try await query(
            """
            UPDATE broker.signing_key SET changed_at = changed_at - \(step), signs_at = signs_at - \(step);
            UPDATE broker.client SET changed_at = changed_at - \(step)
            """)
    }

    func jtis() async throws -> [String] {
        try await query("SELECT jti FROM broker.assertion_jti").split(separator: "\n").map(
            String.init)
    }
}

/// One broker in this process, on a port of its own.
struct RunningBroker: Sendable {
    let service: Service
    let log: LogFile

    func send(_ call: MintCall) async throws -> WireResponse {
        let connection = try WireConnection(port: service.port)
        try await connection.send(call.octets)
        return try await connection.response()
    }

    func send(_ call: ConsumeCall) async throws -> WireResponse {
        let connection = try WireConnection(port: service.port)
        try await connection.send(call.octets)
        return try await connection.response()
    }

    /// An assertion for the client `app`, once a mint passes.
    func assertion(_ deployment: Deployment) async throws -> String {
        let response = try await settled(
            .token(deployment.token) {
                $0.dpopJkt = Base64URL.encode(
                    SHA256.hash((0..<16).map { _ in UInt8.random(in: 0...255) }))
            })
        return try #require(try response.json()["client_assertion"]?.string)
    }

    func get(_ path: String) async throws -> WireResponse {
        let connection = try WireConnection(port: service.port)
        try await connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return try await connection.response()
    }

    /// Asks again until the answer is as wanted; each answer is an event of the broker's, so nothing is slept through.
    func get(_ path: String, until isWanted: (WireResponse) -> Bool) async throws -> WireResponse {
        while true {
            let response = try await get(path)
            if isWanted(response) { return response }
            await Task.yield()
        }
    }

    /// The same for mint calls.
    func mint(_ call: MintCall, until isWanted: (WireResponse) -> Bool) async throws -> WireResponse
    {
        while true {
            let response = try await send(call)
            if isWanted(response) { return response }
            await Task.yield()
        }
    }

    /// The answer of a caller that tries again on 503, since a busy machine may let a mint wait for too long.
    func settled(_ call: MintCall) async throws -> WireResponse {
        try await mint(call) { $0.status != 503 }
    }

    func stop() async { await service.stop(signal: 15) }
}

/// Runs `count` pieces of work, many at once, and gives what they gave.
///
/// At most 48 at a time: each may block a thread of Dispatch, which has some 250, and the service under test runs on the
/// same ones.
func atOnce<Value: Sendable>(
    _ count: Int, _ work: @escaping @Sendable (Int) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for number in 0..<min(count, 48) { group.addTask { try await work(number) } }
        var values: [Value] = []
        var next = min(count, 48)
        while let value = try await group.next() {
            values.append(value)
            guard next < count else { continue }
            let number = next
            next += 1
            group.addTask { try await work(number) }
        }
        return values
    }
}
