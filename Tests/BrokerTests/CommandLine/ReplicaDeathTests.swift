import Glibc
import JOSE
import Synchronization
import TestKit
import Testing

@testable import Broker

/// Two replicas as programs of their own, one of which is killed.
@Suite struct ReplicaDeathTests {
    /// Mints at one replica until it is gone or the test is over; gives the jti of every assertion received.
    private func load(
        _ broker: ServingBroker, _ deployment: Deployment, _ received: Received
    ) async throws {
        do {
            let connection = try WireConnection(port: broker.port)
            while !received.isOver {
                let jkt = Base64URL.encode(try SecureRandom.bytes(32))
                try await connection.send(
                    MintCall.token(deployment.token) { $0.dpopJkt = jkt }.octets)
                let response = try await connection.response()
                #expect([200, 503].contains(response.status))
                if response.status == 200, let jti = try response.json()["jti"]?.string {
                    received.add(jti)
                }
            }
        } catch  where !received.mayDie(broker.port) {
            throw error
        } catch {}
    }

    @Test(.timeLimit(.minutes(3)))
    func
        `R-101-26 a replica killed under load: what was received has its row, and the other goes on`()
        async throws
    {
        let deployment = try await Deployment()
        let brokers = [
            try await ServingBroker(try deployment.configuration("one.json5")),
            try await ServingBroker(try deployment.configuration("two.json5")),
        ]
        let received = Received(mortal: brokers[0].port)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask { try await load(brokers[worker % 2], deployment, received) }
            }
            group.addTask {
                await received.more(200)
                brokers[0].process.signal(SIGKILL)
                _ = await brokers[0].process.status()
                await received.more(200)
                received.end()
            }
            try await group.waitForAll()
        }
        let stored = try await deployment.jtis()
        #expect(Set(received.jtis).count == received.jtis.count)
        #expect(Set(stored).count == stored.count)
        #expect(Set(received.jtis).isSubset(of: stored))
        // It comes back to the same database, and nothing has to be repaired.
        let again = try await ServingBroker(try deployment.configuration("one.json5"))
        #expect(try await again.mint(.token(deployment.token)) { $0.status == 200 }.status == 200)
        for broker in [again, brokers[1]] { #expect(await broker.stop() == 0) }
    }
}

/// The assertions received, and which replica may die.
private final class Received: Sendable {
    private let mortal: UInt16
    private let state = Mutex((jtis: [String](), isOver: false))

    init(mortal: UInt16) { self.mortal = mortal }

    var jtis: [String] { state.withLock { $0.jtis } }
    var isOver: Bool { state.withLock { $0.isOver } }

    func mayDie(_ port: UInt16) -> Bool { port == mortal }
    func add(_ jti: String) { state.withLock { $0.jtis.append(jti) } }
    func end() { state.withLock { $0.isOver = true } }

    /// Returns once so many more were received.
    func more(_ count: Int) async {
        let goal = jtis.count + count
        while jtis.count < goal && !Task.isCancelled { await Task.yield() }
    }
}
