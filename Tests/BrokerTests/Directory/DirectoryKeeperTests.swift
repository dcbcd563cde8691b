import Synchronization
import Testing

@testable import Broker

@Suite struct DirectoryKeeperTests {
    struct LoadFailed: Error {}

    /// Loads wait until the test lets them go, so that what comes during a load is decided by the test.
    actor Source {
        private(set) var loads = 0
        private var revision: Int64
        private var gate: [CheckedContinuation<Void, Never>] = []
        private var started: [CheckedContinuation<Void, Never>] = []
        private var isOpen: Bool
        private var fails = false

        init(revision: Int64, isOpen: Bool = true) {
            self.revision = revision
            self.isOpen = isOpen
        }

        func set(_ revision: Int64, fails: Bool = false) {
            self.revision = revision
            self.fails = fails
        }

        func open() {
            isOpen = true
            gate.forEach { $0.resume() }
            gate = []
        }

        func load() async throws -> Directory {
            loads += 1
            started.forEach { $0.resume() }
            started = []
            let (revision, fails) = (revision, fails)
            if !isOpen { await withCheckedContinuation { gate.append($0) } }
            if fails { throw LoadFailed() }
            return try Sample.directory(revision: revision, [])
        }

        func firstLoadHasBegun() async {
            guard loads == 0 else { return }
            await withCheckedContinuation { started.append($0) }
        }
    }

    @Test func `there is nothing before the first load`() async {
        let source = Source(revision: 1)
        let keeper = DirectoryKeeper { try await source.load() }
        #expect(keeper.current == nil)
        await keeper.reload(newerThan: .min)
        #expect(keeper.current?.revision == 1)
    }

    @Test func `who is content with what is there causes no load`() async {
        let source = Source(revision: 5)
        let keeper = DirectoryKeeper { try await source.load() }
        await keeper.reload(newerThan: .min)
        await keeper.reload(newerThan: 4)
        #expect(await source.loads == 1)
        await keeper.reload(newerThan: 5)
        #expect(await source.loads == 2)
    }

    @Test func `those who come during a load get one that began after they asked`() async {
        let source = Source(revision: 1, isOpen: false)
        let keeper = DirectoryKeeper { try await source.load() }
        async let first: Void = keeper.reload(newerThan: 0)
        await source.firstLoadHasBegun()
        await source.set(2)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    await keeper.reload(newerThan: 1)
                    #expect(keeper.current?.revision == 2)
                }
            }
            await source.open()
        }
        await first
        // All fifty may have come in time for one further load; none had one of its own.
        #expect(await source.loads <= 4)
    }

    @Test func `a load that fails keeps what was there, is reported, and lets nobody wait`() async {
        let source = Source(revision: 1)
        let reports = Mutex<[Bool]>([])
        let keeper = DirectoryKeeper {
            try await source.load()
        } report: { outcome in
            reports.withLock { $0.append((try? outcome.get()) != nil) }
        }
        await keeper.reload(newerThan: .min)
        await source.set(2, fails: true)
        await keeper.reload(newerThan: 1)
        #expect(keeper.current?.revision == 1)
        await source.set(3)
        await keeper.reload(newerThan: 1)
        #expect(keeper.current?.revision == 3)
        #expect(reports.withLock { $0 } == [true, false, true])
    }

    @Test func `a database that went back to an older state is followed`() async {
        let source = Source(revision: 9)
        let keeper = DirectoryKeeper { try await source.load() }
        await keeper.reload(newerThan: .min)
        await source.set(3)
        await keeper.reload(newerThan: 9)
        #expect(keeper.current?.revision == 3)
    }
}
