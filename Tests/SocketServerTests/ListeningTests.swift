import Glibc
import Testing

@testable import SocketServer

@Suite struct ListeningTests {
    @Test(arguments: ["0.0.0.0", "::", "192.0.2.1", "10.0.0.1", "2001:db8::1"])
    func `plain HTTP is refused where other machines could reach it`(_ address: String) {
        #expect(throws: ServerError.plainHTTPOffLoopback(address: address)) {
            try make(address)
        }
    }

    @Test(arguments: ["", "localhost", "127.0.0.1:80", "127.0.0", "[::1]", "a.example"])
    func `an address that is none is refused`(_ address: String) {
        #expect(throws: ServerError.invalidAddress(address)) { try make(address) }
    }

    @Test func `a taken port is named with the reason`() async throws {
        let server = try TestServer()
        let error = #expect(throws: ServerError.self) {
            try make("127.0.0.1", port: server.port)
        }
        #expect(
            error?.description
                == "cannot listen on 127.0.0.1 port \(server.port): Address already in use")
        await server.stop()
    }

    @Test func `the same port can be taken again right after a drain`() async throws {
        let server = try TestServer()
        let port = server.port
        _ = try await server.answers(to: "GET /close HTTP/1.1\r\nHost: a\r\n\r\n")
        await server.stop()
        let next = try make("127.0.0.1", port: port)
        #expect(next.port == port)
        try next.start()
        await next.drain(grace: .zero)
    }

    @Test func `a server that was never started can be drained or dropped, and frees its port`()
        async throws
    {
        var server: HTTPServer? = try make("127.0.0.1")
        let port = try #require(server?.port)
        server = nil
        let drained = try await untilFree(port)
        await drained.drain(grace: .zero)
        let next = try await untilFree(port)
        await next.drain(grace: .zero)
    }

    /// A server on a port whose listening socket is about to be closed, which happens on a queue of its own.
    private func untilFree(_ port: UInt16) async throws -> HTTPServer {
        while true {
            do {
                return try make("127.0.0.1", port: port)
            } catch ServerError.cannotListen {
                await Task.yield()
            }
        }
    }

    @Test func `a server needs a lane`() {
        #expect(throws: ServerError.noLanes) {
            try HTTPServer(
                HTTPServerConfiguration(address: "127.0.0.1", port: 0), lanes: [],
                handler: TestHandler())
        }
    }

    @Test func `connections are dealt out evenly to the lanes`() {
        let ledger = ConnectionLedger(lanes: 3, maximum: 100, maximumPerNetwork: 100)
        let lanes = (0..<9).map { _ in ledger.admit(.loopback) }
        #expect(lanes == [0, 1, 2, 0, 1, 2, 0, 1, 2].map { .lane($0) })
        ledger.release(.loopback, lane: 1)
        ledger.release(.loopback, lane: 1)
        #expect((0..<2).map { _ in ledger.admit(.loopback) } == [.lane(1), .lane(1)])
    }

    @Test func `an IPv6 peer is counted by its /64, an IPv4 peer by itself`() throws {
        let ledger = ConnectionLedger(lanes: 1, maximum: 100, maximumPerNetwork: 1)
        let texts = [
            "2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "::ffff:192.0.2.1", "192.0.2.1",
            "192.0.2.2",
        ]
        let addresses = try texts.map { text -> RemoteAddress in try #require(RemoteAddress(text)) }
        let answers = addresses.map { ledger.admit($0) }
        #expect(answers == [.lane(0), .addressFull, .lane(0), .lane(0), .addressFull, .lane(0)])
    }

    @Test func `one address too many connections: the next is closed at once, until one ends`()
        async throws
    {
        let events = Locked<[ServerEvent]>([])
        let server = try TestServer {
            $0.maximumConnectionsPerAddress = 3
            $0.observe = { event in events.withLock { $0.append(event) } }
        }
        let port = server.port
        try await offPool {
            var clients = try (0..<3).map { _ in try RawClient(port: port) }
            for client in clients { client.send(RawInput.second) }
            for client in clients { #expect(client.readAnswers(count: 1).count == 1) }
            let refused = try RawClient(port: port).readToEnd()
            #expect(refused.isEmpty)
            clients.removeLast()
            // The server learns of the end by an event; a refused try just comes before it.
            while true {
                let client = try RawClient(port: port)
                client.send(RawInput.second)
                if client.readAnswers(count: 1).count == 1 { break }
            }
        }
        #expect(events.withLock { $0 } == [.addressRefused(.loopback)])
        await server.stop()
    }

    @Test func `at the cap the longest idle connection makes room`() async throws {
        let server = try TestServer { $0.maximumConnections = 4 }
        let port = server.port
        try await offPool {
            let idle = try (0..<4).map { _ in
                let client = try RawClient(port: port)
                client.send(RawInput.second)
                #expect(client.readAnswers(count: 1).count == 1)
                return client
            }
            let next = try RawClient(port: port)
            next.send(RawInput.second)
            #expect(next.readAnswers(count: 1).map(\.status) == [200])
            withExtendedLifetime(idle) {}
        }
        #expect(server.server.openConnections <= 4)
        await server.stop()
    }

    @Test func `SIGPIPE is ignored, and a peer that resets costs nobody else`() async throws {
        let server = try TestServer(lanes: 1)
        let port = server.port
        var action = sigaction()
        sigaction(SIGPIPE, nil, &action)
        #expect(action.__sigaction_handler.sa_handler.map { unsafeBitCast($0, to: Int.self) } == 1)
        try await offPool {
            for _ in 0..<1000 {
                let client = try RawClient(port: port)
                client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
                client.reset()
            }
        }
        let answers = try await server.answers(to: RawInput.second, count: 1)
        #expect(answers.map(\.status) == [200])
        await server.untilEmpty()
        await server.stop()
    }

    private func make(_ address: String, port: UInt16 = 0) throws -> HTTPServer {
        try HTTPServer(
            HTTPServerConfiguration(address: address, port: port), lanes: [Lane(index: 0)],
            handler: TestHandler())
    }
}
