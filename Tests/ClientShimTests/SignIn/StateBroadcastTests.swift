import Testing

@testable import ClientShim

/// cases.md "State stream consumers".
@Suite struct StateBroadcastTests {
    private func all(_ stream: AsyncStream<Int>) async -> [Int] {
        await stream.reduce(into: []) { $0.append($1) }
    }

    @Test
    func `R-100-01 R-100-02 every reader sees the current state, each later one, and the end`()
        async
    {
        let broadcast = StateBroadcast(0, isOver: false)
        let first = broadcast.stream()
        broadcast.publish(1, isOver: false)
        let second = broadcast.stream()
        broadcast.publish(1, isOver: false)
        broadcast.publish(2, isOver: true)
        broadcast.publish(3, isOver: true)
        #expect(await all(first) == [0, 1, 2])
        #expect(await all(second) == [1, 2])
        #expect(await all(broadcast.stream()) == [2])
    }

    @Test func `a reader far behind gets a bounded number of the latest, and always the last`()
        async
    {
        let broadcast = StateBroadcast(0, isOver: false)
        let slow = broadcast.stream()
        for state in 1...10_000 { broadcast.publish(state, isOver: state == 10_000) }
        let seen = await all(slow)
        #expect(seen.count == StateBroadcast<Int>.bufferedStates)
        #expect(seen.last == 10_000)
        #expect(seen == seen.sorted())
    }

    @Test func `a reader that leaves is forgotten, and the others go on`() async {
        let broadcast = StateBroadcast(0, isOver: false)
        let other = broadcast.stream()
        for await state in broadcast.stream() where state == 0 { break }
        #expect(await eventually { broadcast.readerCount == 1 })
        broadcast.publish(1, isOver: true)
        #expect(await all(other) == [0, 1])
    }

    @Test func `streams end when the flow goes away`() async throws {
        var broadcast: StateBroadcast<Int>? = StateBroadcast(0, isOver: false)
        let stream = try #require(broadcast?.stream())
        broadcast = nil
        #expect(await all(stream) == [0])
    }

    @Test func `a flow nobody holds that waits for its user ends its streams`() async throws {
        let world = try await World()
        var flow: SignInFlow? = world.authn.startSignInFlow(config: world.config)
        let stream = try #require(flow?.stateStream())
        var last: SignInState?
        for await state in stream {
            last = state
            if case .awaitingFaceCapture = state { flow = nil }
        }
        guard case .awaitingFaceCapture = last else {
            Issue.record("ended as \(String(describing: last))")
            return
        }
    }
}
