import Dispatch
import Testing

@testable import SocketServer

/// How much of a lane one connection may take before others have their turn.
@Suite struct TurnTests {
    /// Counts the requests of each turn. What it puts on the lane's queue runs when the turn has ended.
    private final class CountingHandler: HTTPHandler {
        private let turns = Locked<[Int]>([0])
        private let size: Int

        init(size: Int) { self.size = size }

        var counts: [Int] { turns.withLock { $0.filter { $0 > 0 } } }

        func admit(_ head: HTTPRequestHead, on lane: Lane) -> Admission { .read(bodyLimit: 0) }

        func handle(_ request: HTTPRequest, on lane: Lane, reply: Reply) {
            let isFirst = turns.withLock { turns in
                turns[turns.count - 1] += 1
                return turns[turns.count - 1] == 1
            }
            if isFirst { lane.queue.async { self.turns.withLock { $0.append(0) } } }
            reply.send(HTTPResponse(status: 200, body: [UInt8](repeating: 0x78, count: size)))
        }

        func answer(to rejection: HTTPRejection, from remote: RemoteAddress) -> HTTPResponse {
            HTTPResponse(status: rejection.status)
        }
    }

    @Test(arguments: [(0, 32), (1000, 32), (10_000, 4), (40_000, 1)])
    func `a turn ends after so many requests, and after so many octets of answers`(
        size: Int, most: Int
    ) async throws {
        let handler = CountingHandler(size: size)
        let server = try HTTPServer(
            HTTPServerConfiguration(address: "127.0.0.1", port: 0), lanes: [Lane(index: 0)],
            handler: handler)
        try server.start()
        let answered = try await offPool { [port = server.port] in
            let client = try RawClient(port: port)
            client.send(String(repeating: RawInput.second, count: 100))
            return client.readAnswers(count: 100).count
        }
        #expect(answered == 100)
        #expect(handler.counts.reduce(0, +) == 100)
        // A turn that ended because the socket was full may go on before what this handler put on the queue has run.
        #expect(handler.counts.allSatisfy { $0 <= 2 * most }, "\(handler.counts)")
        await server.drain(grace: .zero)
    }
}
