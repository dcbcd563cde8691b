import ClientShim
import Testing

@testable import DemoApp

/// What a killed process leaves behind.
@Suite struct PhoneStoreTests {
    let disk = InMemorySecureStore()
    let board = Board(painter: Painter(usesColours: false), clock: SystemClock())
    let ageing = PhoneStore.Ageing()

    private func store(_ life: Lifeline) -> PhoneStore {
        PhoneStore(wrapped: disk, life: life, board: board, ageing: ageing)
    }

    @Test func `after the end of a process its objects write nothing and its locks are free`()
        throws
    {
        let life = Lifeline()
        let old = store(life)
        try old.replace("session", with: [1])
        let lock = try old.tryLock("refresh")
        #expect(lock != nil)
        let new = store(Lifeline())
        #expect(try new.tryLock("refresh") == nil)
        life.end()
        #expect(throws: SecureStoreError.self) { try old.replace("session", with: [2]) }
        #expect(throws: SecureStoreError.self) { try old.remove("session") }
        #expect(throws: SecureStoreError.self) { try old.tryLock("other") }
        #expect(try new.read("session") == [1])
        let again = try new.tryLock("refresh")
        #expect(again != nil)
        // The dead process's own release is no release of the new one's lock.
        lock?.release()
        #expect(try store(Lifeline()).tryLock("refresh") == nil)
    }

    @Test func `a session looks expired until it is written again`() throws {
        let store = store(Lifeline())
        let record = Array(#"{"expires_at":1764559999}"#.utf8)
        try store.replace("session", with: record)
        ageing.isExpired = true
        #expect(try store.read("session") == Array(#"{"expires_at":1}"#.utf8))
        try store.replace("session", with: record)
        #expect(try store.read("session") == record)
    }

    @Test func `a message that waits when the process ends never leaves`() async throws {
        let life = Lifeline()
        let wire = ScriptedTransport { _ in .answer(HTTPAnswer(status: 200)) }
        let network = PhoneNetwork()
        let clock = EndingClock(life: life)
        let transport = PhoneTransport(
            wrapped: wire, network: network, life: life, board: board, clock: clock,
            brokerURL: "https://broker.example")
        #expect(
            await transport.send(HTTPRequest(method: "GET", url: "https://idp.example/"))
                == .answer(HTTPAnswer(status: 200)))
        network.change { $0.slow(milliseconds: 1_000) }
        let outcome = await transport.send(HTTPRequest(method: "GET", url: "https://idp.example/"))
        #expect(outcome == .unsent(.cancelled))
        #expect(wire.requests.count == 1)
    }

    /// While somebody sleeps by it, the process ends.
    private struct EndingClock: AuthnClock {
        let life: Lifeline

        func now() -> Int64 { 0 }
        func monotonicMilliseconds() -> Int64 { 0 }
        func sleep(milliseconds: Int64) async throws(CancellationError) { life.end() }
    }
}
