import SocketServer
import Testing

@testable import Broker

/// How long a provider may keep a key set: never past the moment at which a new key may sign without being in it.
@Suite struct KeySetAgeTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private func after(_ seconds: Int64) -> MonotonicTime {
        start.adding(microseconds: seconds * 1_000_000)
    }

    @Test(arguments: [(Int64(0), 300), (5, 300), (6, 299), (105, 200), (305, 0), (9999, 0)])
    func `a replica without word from the database lets its set be kept for less`(
        seconds: Int64, age: Int
    ) {
        #expect(KeySetRoute.maximumAge(confirmedAt: start, now: after(seconds)) == age)
    }

    @Test func `no set is kept until a key that it may lack signs`() {
        for seconds in Int64(0)..<700 {
            let age = KeySetRoute.maximumAge(confirmedAt: start, now: after(seconds))
            // A key that is published right after the confirmation signs this much later.
            #expect(age == 0 || seconds + Int64(age) < KeyOverlap.published)
        }
    }

    @Test func `a look that finds nothing newer confirms, one that does or came earlier does not`()
        async throws
    {
        let directory = try Sample.directory(revision: 7, [])
        let keeper = DirectoryKeeper { directory }
        #expect(keeper.confirmed == nil)
        await keeper.reload(newerThan: .min)
        let loaded = try #require(keeper.confirmed?.at)
        let later = loaded.adding(milliseconds: 5)
        keeper.confirm(8, at: later)
        #expect(keeper.confirmed?.at == loaded)
        keeper.confirm(7, at: later)
        #expect(keeper.confirmed?.at == later)
        keeper.confirm(7, at: loaded)
        #expect(keeper.confirmed?.at == later)
    }
}
