import Dispatch
import Glibc
import JOSE
import Synchronization
import Testing

@testable import Broker

/// Work that hangs is made of semaphores that a test holds: no test waits for anything but an event.
@Suite struct BlockingThreadsTests {
    /// Takes `count` threads and holds them until `release`.
    private struct Hold: Sendable {
        private let gate = DispatchSemaphore(value: 0)
        private let begun = AsyncStream<Void>.makeStream()
        private let ended = AsyncStream<Result<Int, KeyError>>.makeStream()
        private let count: Int

        init(_ threads: BlockingThreads, count: Int, within milliseconds: Int = 60_000) async {
            self.count = count
            for number in 0..<count {
                threads.run(within: milliseconds) { [gate, begun] in
                    begun.continuation.yield()
                    gate.wait()
                    return number
                } then: { [ended] in
                    ended.continuation.yield($0)
                }
            }
            var beginnings = begun.stream.makeAsyncIterator()
            for _ in 0..<count { await beginnings.next() }
        }

        func release() { for _ in 0..<count { gate.signal() } }

        func results() async -> [Result<Int, KeyError>] {
            var results: [Result<Int, KeyError>] = []
            for await result in ended.stream.prefix(count) { results.append(result) }
            return results
        }
    }

    @Test func `work is done on threads, several at once, and its result or error told`()
        async throws
    {
        let threads = BlockingThreads(threads: 3)
        let hold = await Hold(threads, count: 3)
        hold.release()
        #expect(await hold.results().compactMap { try? $0.get() }.sorted() == [0, 1, 2])
        #expect(try await threads.run(within: 60_000) { 7 } == 7)
        await #expect(throws: KeyError.unusable) {
            try await threads.run(within: 60_000) { () throws(KeyError) -> Int in throw .unusable }
        }
    }

    @Test func `beyond threads and line, work is refused at once and never done`() async throws {
        let threads = BlockingThreads(threads: 2, waiting: 3)
        let hold = await Hold(threads, count: 2)
        let told = AsyncStream<Result<Int, KeyError>>.makeStream()
        let done = Mutex(0)
        for _ in 0..<5 {
            threads.run(within: 60_000) {
                done.withLock { $0 += 1 }
                return 1
            } then: {
                told.continuation.yield($0)
            }
        }
        var answers = told.stream.makeAsyncIterator()
        for _ in 0..<2 { #expect(await answers.next() == .failure(.busy)) }
        #expect(threads.refusal == .busy)
        hold.release()
        for _ in 0..<3 { #expect(await answers.next() == .success(1)) }
        #expect(done.withLock { $0 } == 3)
        #expect(threads.refusal == nil)
    }

    @Test func `a call that hangs is given up in time; once all hang, others are refused at once`()
        async throws
    {
        let threads = BlockingThreads(threads: 2)
        let hold = await Hold(threads, count: 2, within: 20)
        #expect(await hold.results() == [.failure(.notAnswering), .failure(.notAnswering)])
        #expect(threads.refusal == .notAnswering)
        await #expect(throws: KeyError.notAnswering) { try await threads.run(within: 60_000) { 1 } }
        hold.release()
        // They end on their own threads, and then there is room again.
        while threads.refusal != nil { await Task.yield() }
        #expect(try await threads.run(within: 60_000) { 2 } == 2)
    }

    @Test func `what waited too long is never begun`() async throws {
        let threads = BlockingThreads(threads: 1)
        let hold = await Hold(threads, count: 1)
        let wasDone = Mutex(false)
        await #expect(throws: KeyError.notAnswering) {
            try await threads.run(within: 10) { wasDone.withLock { $0 = true } }
        }
        #expect(threads.refusal == nil, "the one that works is within its time")
        hold.release()
        #expect(try await threads.run(within: 60_000) { 3 } == 3)
        #expect(!wasDone.withLock { $0 })
    }

    @Test(arguments: 0..<20)
    func `everybody is told exactly once, whatever takes how long`(seed: Int) async throws {
        let threads = BlockingThreads(threads: 3, waiting: 8)
        let told = Mutex([Int: Int]())
        let ends = AsyncStream<Void>.makeStream()
        let count = 60
        for number in 0..<count {
            threads.run(within: (seed + number) % 3) {
                usleep(UInt32((seed * 7 + number * 13) % 5) * 500)
            } then: { _ in
                told.withLock { $0[number, default: 0] += 1 }
                ends.continuation.yield()
            }
        }
        var iterator = ends.stream.makeAsyncIterator()
        for _ in 0..<count { await iterator.next() }
        // Whatever still runs ends before this does, since it needs all the threads.
        while threads.refusal != nil { await Task.yield() }
        let hold = await Hold(threads, count: 3)
        hold.release()
        _ = await hold.results()
        #expect(told.withLock { $0.count == count && $0.values.allSatisfy { $0 == 1 } })
    }
}
