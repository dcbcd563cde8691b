import AssertionMint
import JOSE
import Synchronization
import Testing

@testable import Broker

@Suite struct PendingKeyWatchTests {
    @Test
    func
        `a pending key that cannot be opened is told once a reason, and again when it is gone again`()
        async throws
    {
        let key = try PrivateKey.generate(.ES256)
        let answer = Answer(.failure(.notAnswering))
        let watch = PendingKeyWatch(
            keys: SigningKeys { (_) throws(KeyError) in try answer.get() },
            report: { answer.tell("\($0) \($1): \($2)") })
        let directory = try Sample.directory([try client(pending: key)])
        for _ in 0..<2 { await watch.look(at: directory) }
        #expect(answer.told == ["app k2: \(KeyError.notAnswering)"])
        answer.set(.failure(.permissions))
        await watch.look(at: directory)
        #expect(answer.told.last == "app k2: \(KeyError.permissions)")
        // Another key than the one that was published is none.
        answer.set(.success(try PrivateKey.generate(.ES256)))
        await watch.look(at: directory)
        #expect(answer.told.last == "app k2: \(KeyError.unusable)")
        answer.set(.success(key))
        for _ in 0..<2 { await watch.look(at: directory) }
        #expect(answer.told.count == 3)
    }

    @Test(.timeLimit(.minutes(2)))
    func `a replica without the new key's file says so in its log, and is ready`() async throws {
        let deployment = try await Deployment()
        let key = try PrivateKey.generate(.ES256)
        var jwk = key.publicJWK
        jwk.kid = "next"
        let added = try await KeyRepository(
            connection: ControlConnection(conninfo: deployment.url)
        ).change(
            try Sample.clientId(),
            .add(
                Declaration.Key(
                    kid: "next", uri: "file:/nowhere/next.pem", state: .pending, publicJWK: jwk)))
        guard case .keys = added else {
            Issue.record("\(String(describing: added))")
            return
        }
        let replica = try await deployment.start()
        var events: [JSONValue] = []
        while events.isEmpty {
            #expect(try await replica.get("/readyz").status == 200)
            events = try await replica.log.events("key.unready")
        }
        #expect(events[0]["kid"]?.string == "next")
        #expect(events[0]["client_id"]?.string == "app")
        await replica.stop()
    }

    private func client(pending key: PrivateKey) throws -> RegisteredClient {
        RegisteredClient(
            id: try Sample.clientId(), tenant: try Sample.tenantId(),
            settings: try Sample.settings(), tenantSettings: try Sample.tenantSettings(),
            signing: .unusable("of no matter here"), publicKeys: [],
            pendingKeys: [
                Declaration.Key(
                    kid: "k2", uri: "file:/k2", state: .pending, publicJWK: key.publicJWK)
            ])
    }
}

/// What opening a key comes to at the moment, and what was told of it.
private final class Answer: Sendable {
    private let current: Mutex<Result<PrivateKey, KeyError>>
    private let lines = Mutex<[String]>([])

    init(_ first: Result<PrivateKey, KeyError>) { current = Mutex(first) }

    var told: [String] { lines.withLock { $0 } }

    func tell(_ line: String) { lines.withLock { $0.append(line) } }
    func set(_ next: Result<PrivateKey, KeyError>) { current.withLock { $0 = next } }
    func get() throws(KeyError) -> PrivateKey { try current.withLock { $0 }.get() }
}
