import DPoPResource
import HTTPClient
import JOSE
import SocketServer
import Synchronization
import Testing

@testable import SandboxIdP

/// The provider on a real socket, a client of it, and the keys of both, for one test.
struct Sandbox {
    static let issuer = "https://idp.example"
    static let clientId = "app"

    private static let turnstile = Turnstile(4)

    let clock = ManualClock()
    let key: PrivateKey
    let otherKey: PrivateKey
    let provider: SandboxProvider
    let events = EventList()
    let verifier = Base64URL.encode((0..<32).map { UInt8($0) })
    private let server: HTTPServer
    private let http: HTTPClient

    /// Runs `body` with a provider of its own, and ends it afterwards.
    static func run(
        _ change: (inout ProviderConfiguration) -> Void = { _ in },
        keys: (any ClientKeySource)? = nil,
        _ body: (Sandbox) async throws -> Void
    ) async throws {
        await turnstile.enter()
        defer { turnstile.leave() }
        let sandbox = try Sandbox(change, keys: keys)
        do { try await body(sandbox) } catch {
            await sandbox.server.drain(grace: .zero)
            throw error
        }
        await sandbox.server.drain(grace: .zero)
    }

    private init(
        _ change: (inout ProviderConfiguration) -> Void, keys: (any ClientKeySource)?
    ) throws {
        key = try PrivateKey.generate(.ES256)
        otherKey = try PrivateKey.generate(.ES256)
        var configuration = ProviderConfiguration(
            uris: try #require(EndpointURIs(issuer: Self.issuer)),
            clients: [Self.client(Self.clientId), Self.client("other")])
        change(&configuration)
        let clock = clock
        let events = events
        provider = try SandboxProvider(
            configuration,
            environment: Environment(
                now: { clock.now }, random: { try? SecureRandom.bytes($0) },
                clientKeys: keys
                    ?? StaticKeys([
                        Self.clientId: JWKSet([Self.named(key, "k1")]),
                        "other": JWKSet([Self.named(otherKey, "k2")]),
                    ]),
                log: { events.append($0) }), apiNonces: true)
        var socket = HTTPServerConfiguration(address: "127.0.0.1", port: 0)
        // No test is about time here, and a busy machine must not look like a provider that fails.
        socket.deadlines.head = .seconds(600)
        socket.deadlines.request = .seconds(600)
        socket.deadlines.answer = .seconds(600)
        server = try HTTPServer(
            socket, lanes: [Lane(index: 0)], handler: SandboxHandler(provider))
        try server.start()
        http = HTTPClient(
            configuration: HTTPClientConfiguration(
                connectTimeout: 600, readTimeout: 600, totalTimeout: 600, maximumConcurrent: 32,
                allowInsecureLoopback: true))
    }

    static func client(_ id: String) -> Client {
        Client(
            clientId: id, jwksURI: "https://broker.example/\(id)",
            redirectURIs: ["https://app.example/cb"], scopes: Client.defaultScopes,
            firstPartyChallengeEnabled: true)
    }

    static func named(_ key: PrivateKey, _ kid: String) -> PublicJWK {
        var jwk = key.publicJWK
        jwk.kid = kid
        return jwk
    }

    func send(_ attempt: Attempt) async throws -> Reply {
        let outcome = await http.send(
            method: attempt.method,
            url: "http://127.0.0.1:\(server.port)\(attempt.path)\(attempt.query)",
            headers: try attempt.fields(), body: try attempt.octets())
        guard case .answer(let answer) = outcome else {
            throw LostAnswer(outcome: outcome)
        }
        return Reply(answer)
    }

    /// Sends all of them at the same time; answers in the order of `attempts`.
    func sendAtOnce(_ attempts: [Attempt]) async throws -> [Reply] {
        // Made before the race, so that nothing is signed during it.
        let ready = try attempts.map {
            (attempt: $0, fields: try $0.fields(), body: try $0.octets())
        }
        return try await withThrowingTaskGroup(of: (Int, HTTPOutcome).self) { group in
            for (index, request) in ready.enumerated() {
                let (http, port) = (http, server.port)
                let (method, path) = (request.attempt.method, request.attempt.path)
                let (fields, body) = (request.fields, request.body)
                group.addTask {
                    (
                        index,
                        await http.send(
                            method: method, url: "http://127.0.0.1:\(port)\(path)",
                            headers: fields, body: body)
                    )
                }
            }
            var replies: [Int: Reply] = [:]
            for try await (index, outcome) in group {
                guard case .answer(let answer) = outcome else {
                    throw LostAnswer(outcome: outcome)
                }
                replies[index] = Reply(answer)
            }
            return ready.indices.compactMap { replies[$0] }
        }
    }

    struct LostAnswer: Error {
        let outcome: HTTPOutcome
    }
}

/// Keys that never change.
struct StaticKeys: ClientKeySource {
    let sets: [String: JWKSet]

    init(_ sets: [String: JWKSet]) { self.sets = sets }

    func keys(
        of client: Client, containing kid: String?, now: Int64
    ) async throws(JWKSFault) -> JWKSet {
        guard let set = sets[client.clientId] else { throw .unreachable }
        return set
    }
}

/// The events of one provider.
final class EventList: Sendable {
    private let events = Mutex<[RequestEvent]>([])

    func append(_ event: RequestEvent) { events.withLock { $0.append(event) } }

    var all: [RequestEvent] { events.withLock { $0 } }
}
