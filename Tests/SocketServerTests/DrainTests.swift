import Testing

@testable import SocketServer

@Suite struct DrainTests {
    private static let hold = "GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test
    func `idle connections are closed, and a held request gets its answer with Connection: close`()
        async throws
    {
        let server = try TestServer()
        let port = server.port
        let idle = try await offPool {
            try (0..<100).map { _ in
                let client = try RawClient(port: port)
                client.send(RawInput.second)
                #expect(client.readAnswers(count: 1).map(\.status) == [200])
                return Kept(client)
            }
        }
        let held = try await offPool {
            let client = try RawClient(port: port)
            // A second request behind it must not be run any more.
            client.send(Self.hold + RawInput.second)
            return Kept(client)
        }
        await server.handler.untilHeld(1)
        let drained = Task { await server.server.drain(grace: .seconds(60)) }
        try await offPool {
            for client in idle {
                let rest = try client.client.readToEnd()
                #expect(rest.isEmpty)
            }
        }
        #expect(throws: ClientError.self) { try RawClient(port: port) }
        server.handler.releaseHeld()
        let answers = try await offPool { held.client.readAnswers() }
        #expect(answers.map(\.body) == ["held"])
        #expect(answers.first?.saysClose == true)
        #expect(answers.first?.wasLast == true)
        // The server lingers until the client has ended too.
        held.client.endInput()
        await drained.value
        #expect(server.server.openConnections == 0)
    }

    @Test func `a connection just opened may send its one request, a silent one is closed`()
        async throws
    {
        let server = try TestServer { $0.deadlines.firstWhileDraining = .seconds(30) }
        let port = server.port
        let late = try await offPool { Kept(try RawClient(port: port)) }
        while server.server.openConnections < 1 { await Task.yield() }
        let drained = Task { await server.server.drain(grace: .seconds(60)) }
        try await offPool {
            // Nobody listens any more, so the drain has begun.
            while (try? RawClient(port: port)) != nil {}
            late.client.send(RawInput.second)
            let answers = late.client.readAnswers()
            #expect(answers.map(\.status) == [200])
            #expect(answers.first?.saysClose == true)
            late.client.endInput()
        }
        await drained.value
        let hasty = try TestServer { $0.deadlines.firstWhileDraining = .milliseconds(50) }
        let silent = try await offPool { [port = hasty.port] in Kept(try RawClient(port: port)) }
        while hasty.server.openConnections < 1 { await Task.yield() }
        await hasty.server.drain(grace: .seconds(60))
        let rest = try await offPool { try silent.client.readToEnd() }
        #expect(rest.isEmpty)
    }

    @Test func `a half received request may be finished, and is answered with Connection: close`()
        async throws
    {
        let server = try TestServer(lanes: 1)
        let port = server.port
        let client = try await offPool {
            let client = try RawClient(port: port)
            client.send(
                RawInput.second + "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12")
            #expect(client.readAnswers(count: 1).map(\.body) == ["hello"])
            return Kept(client)
        }
        let idle = try await offPool {
            let client = try RawClient(port: port)
            client.send(RawInput.second)
            #expect(client.readAnswers(count: 1).map(\.body) == ["hello"])
            return Kept(client)
        }
        let drained = Task { await server.server.drain(grace: .seconds(60)) }
        try await offPool {
            // Draining closes the idle one; from then on it has begun.
            _ = try idle.client.readToEnd()
            client.client.send("345")
            let answers = client.client.readAnswers()
            #expect(answers.map(\.body) == ["12345"])
            #expect(answers.first?.saysClose == true)
            client.client.endInput()
        }
        await drained.value
    }

    @Test func `what is still open at the grace time is cut`() async throws {
        let server = try TestServer()
        let port = server.port
        let held = try await offPool {
            let client = try RawClient(port: port)
            client.send(Self.hold)
            return Kept(client)
        }
        await server.handler.untilHeld(1)
        await server.server.drain(grace: .milliseconds(50))
        #expect(server.server.openConnections == 0)
        #expect(held.client.readAnswers().isEmpty)
        // Its answer comes too late and meets no connection.
        server.handler.releaseHeld()
    }

    @Test func `a client that never pauses is closed after its current answer`() async throws {
        let server = try TestServer()
        let port = server.port
        let (started, start) = AsyncStream<Void>.makeStream()
        let busy = Task {
            try await offPool {
                let client = try RawClient(port: port)
                var last: Answer?
                while client.send(Array(RawInput.second.utf8)),
                    let answer = client.readAnswers(count: 1).first
                {
                    if last == nil { start.yield() }
                    last = answer
                    if answer.saysClose { break }
                }
                return last
            }
        }
        for await _ in started { break }
        await server.server.drain(grace: .seconds(60))
        #expect(try await busy.value?.status == 200)
    }

    @Test func `draining twice, or with nothing open, returns`() async throws {
        let server = try TestServer()
        await server.server.drain(grace: .seconds(60))
        await server.server.drain(grace: .seconds(60))
        #expect(server.server.openConnections == 0)
    }
}
