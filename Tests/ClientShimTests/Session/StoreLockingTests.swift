import JOSE
import TestKit
import Testing

@testable import ClientShim

/// Locks of a store that another process may hold: real lock files.
@Suite struct StoreLockingTests {
    private let directory: TemporaryDirectory
    private let store: EncryptedFileSecureStore
    private let executor = SDKExecutor()

    init() throws {
        directory = try TemporaryDirectory()
        store = try EncryptedFileSecureStore(
            directory: directory.file("records"),
            masterKey: MasterKey(bytes: [UInt8](repeating: 7, count: 32)))
    }

    /// Every sleep is over at once.
    private struct HurriedClock: AuthnClock {
        func now() -> Int64 { 1_800_000_000 }
        func monotonicMilliseconds() -> Int64 { 0 }
        func sleep(milliseconds: Int64) async throws(CancellationError) {}
    }

    @Test func `a cancelled task waits for the lock like any other: what it stores was issued`()
        async throws
    {
        let held = try #require(try store.tryLock("session"))
        let clock = ManualClock()
        let (store, executor) = (store, executor)
        let task = Task {
            try await StoreLocking.acquire(
                "session", in: store, clock: clock, executor: executor, limitMilliseconds: 5_000)
        }
        task.cancel()
        #expect(await eventually { clock.sleeperCount == 1 })
        held.release()
        clock.advance(seconds: 1)
        try await task.value.release()
    }

    @Test func `a lock that stays taken is an error in the end`() async throws {
        let held = try #require(try store.tryLock("session"))
        await #expect(
            throws: AuthnFault.secureStore(.failed(details: "lock session stays taken"))
        ) {
            try await StoreLocking.acquire(
                "session", in: store, clock: HurriedClock(), executor: executor,
                limitMilliseconds: 5_000)
        }
        held.release()
    }

    @Test(arguments: [true, false])
    func
        `R-000-58 a sign-out beside a process that hangs ends the session here, on disk as soon as it can`(
            isKnown: Bool
        ) async throws
    {
        let world = try await World.signedIn()
        let record = try #require(try world.record)
        try store.replace("session", with: record.json.bytes)
        var environment = world.environment
        environment.store = store
        environment.clock = HurriedClock()
        let keys = InstallKeys(
            keyStore: world.keyStore, store: world.store, random: environment.random)
        let vault = SessionVault(environment: environment, installKeys: keys, executor: executor)
        if isKnown { try vault.preload() }
        let held = try #require(try store.tryLock("session"))
        guard isKnown else {
            await #expect(throws: AuthnFault.self) { try await vault.remove() }
            return
        }
        #expect(try await vault.remove() == record)
        #expect(vault.lastSeen == nil)
        held.release()
        // The other process has refreshed it meanwhile.
        try store.replace("session", with: record.json.bytes)
        #expect(try await vault.load() == nil)
        #expect(try store.read("session") == nil)
    }
}
