import Glibc
import Synchronization
import Testing

@testable import SocketServer

/// Descriptors that a lane watches beside its connections, and the order of a round.
@Suite struct LaneWatchTests {
    /// Both ends of a socket pair. Its octets are read by whoever is told of them.
    private final class Wire: Sendable {
        let (here, there): (Int32, Int32)

        init() throws {
            var ends: [Int32] = [0, 0]
            try #require(
                socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends)
                    == 0)
            (here, there) = (ends[0], ends[1])
        }

        deinit {
            close(here)
            close(there)
        }

        func write() { _ = send(there, "x", 1, Int32(MSG_NOSIGNAL)) }
        func read() {
            withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) {
                _ = recv(here, $0.baseAddress, 64, 0)
            }
        }
    }

    /// Tells a stream what it is told.
    private final class Listener: LaneWatcher, Sendable {
        private let wire: Wire
        private let lane: Lane
        private let heard: AsyncStream<String>.Continuation
        private let name: String

        init(_ name: String, _ wire: Wire, _ lane: Lane, _ heard: AsyncStream<String>.Continuation)
        {
            (self.name, self.wire, self.lane, self.heard) = (name, wire, lane, heard)
        }

        func ready(_ readiness: LaneReadiness) {
            if readiness.contains(.writing) { heard.yield("\(name) may write") }
            guard readiness.contains(.reading) else { return }
            wire.read()
            heard.yield("\(name) may read")
            lane.atEndOfRound { [heard, name] in heard.yield("\(name)'s end") }
        }
    }

    /// Runs on the lane, and gives what it gives.
    private static func on<Value: Sendable>(
        _ lane: Lane, _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            lane.async { continuation.resume(returning: body()) }
        }
    }

    @Test func `what is ready together is told together, and the round ends after that`()
        async throws
    {
        let lane = Lane(index: 0)
        let (heard, told) = AsyncStream.makeStream(of: String.self)
        let wires = [try Wire(), try Wire()]
        let listeners = wires.enumerated().map { Listener("\($0)", $1, lane, told) }
        wires.forEach { $0.write() }
        let watches = await Self.on(lane) {
            zip(wires, listeners).map { lane.watch($0.here, for: $1) }
        }
        var words: [String] = []
        for await word in heard {
            words.append(word)
            if words.count == 4 { break }
        }
        #expect(Set(words[..<2]) == ["0 may read", "1 may read"])
        #expect(Set(words[2...]) == ["0's end", "1's end"])
        await Self.on(lane) { watches.compactMap(\.self).forEach { lane.end($0) } }
        withExtendedLifetime(listeners) {}
    }

    @Test func `a watch that has ended is silent, and another on the same descriptor is not`()
        async throws
    {
        let lane = Lane(index: 0)
        let (heard, told) = AsyncStream.makeStream(of: String.self)
        let wire = try Wire()
        let (first, second) = (
            Listener("first", wire, lane, told), Listener("second", wire, lane, told)
        )
        let ended = try #require(await Self.on(lane) { lane.watch(wire.here, for: first) })
        let watch = try #require(
            await Self.on(lane) {
                lane.end(ended)
                return lane.watch(wire.here, for: second)
            })
        wire.write()
        var words = heard.makeAsyncIterator()
        #expect(await words.next() == "second may read")
        #expect(await words.next() == "second's end")
        await Self.on(lane) { lane.watch(watch, alsoWriting: true) }
        #expect(await words.next() == "second may write")
        await Self.on(lane) { lane.end(watch) }
        withExtendedLifetime(first) {}
    }

    @Test func `a watcher that has gone is not told`() async throws {
        let lane = Lane(index: 0)
        let (heard, told) = AsyncStream.makeStream(of: String.self)
        let (lost, kept) = (try Wire(), try Wire())
        let listener = Listener("kept", kept, lane, told)
        let watches = await Self.on(lane) {
            [
                lane.watch(lost.here, for: Listener("lost", lost, lane, told)),
                lane.watch(kept.here, for: listener),
            ]
        }
        lost.write()
        kept.write()
        var words = heard.makeAsyncIterator()
        #expect(await words.next() == "kept may read")
        await Self.on(lane) { watches.compactMap(\.self).forEach { lane.end($0) } }
        withExtendedLifetime(listener) {}
    }

    @Test
    func `work from many threads runs once each, in each one's order, beside a busy descriptor`()
        async throws
    {
        let lane = Lane(index: 0)
        let (_, told) = AsyncStream.makeStream(
            of: String.self, bufferingPolicy: .bufferingNewest(1))
        let wire = try Wire()
        let listener = Listener("busy", wire, lane, told)
        let watch = try #require(await Self.on(lane) { lane.watch(wire.here, for: listener) })
        let done = Numbers()
        await withTaskGroup { group in
            for writer in 0..<4 {
                group.addTask { [lane, wire, done] in
                    for number in 0..<500 {
                        wire.write()
                        await Self.on(lane) { done.append(number, by: writer) }
                    }
                }
            }
        }
        let all = Array(0..<500)
        #expect(done.lists == [0: all, 1: all, 2: all, 3: all])
        await Self.on(lane) { lane.end(watch) }
        withExtendedLifetime(listener) {}
    }

    private final class Numbers: Sendable {
        private let state = Mutex<[Int: [Int]]>([:])

        var lists: [Int: [Int]] { state.withLock(\.self) }

        func append(_ number: Int, by writer: Int) {
            state.withLock { $0[writer, default: []].append(number) }
        }
    }
}
