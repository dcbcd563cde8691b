import Testing

@testable import SocketServer

/// Deadlines are short here, and what is awaited is the server's act: an answer, or the end of the connection.
@Suite struct DeadlineTests {
    /// What is sent, octet by octet, and the answers before the server ends the connection.
    @Test(
        arguments: [
            ("", []), ("G", [408]),
            ("GET /hello HTTP/1.1\r\nHost: a\r\nX-Slow: aaaaaaaaaaaaaaaaaaaa", [408]),
            ("\r\n", [408]),
        ] as [(String, [Int])])
    func `a head that does not come ends in 408, and silence in nothing`(
        text: String, statuses: [Int]
    )
        async throws
    {
        let server = try TestServer { $0.deadlines.head = .milliseconds(150) }
        #expect(try await trickle(text, to: server).map(\.status) == statuses)
        await server.stop()
    }

    @Test func `octets that trickle in do not move the deadline of the head`() async throws {
        let server = try TestServer { $0.deadlines.head = .milliseconds(300) }
        // At 20 ms an octet the whole head would take ten seconds.
        let answers = try await trickle(
            "GET /hello HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "y", count: 470)
                + "\r\n\r\n",
            to: server, octetEvery: 20_000)
        #expect(answers.map(\.status) == [408])
        #expect(server.handler.handled.isEmpty)
        await server.stop()
    }

    @Test(arguments: [
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n32\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ",
    ])
    func `octets that trickle in do not move the deadline of the whole request`(_ head: String)
        async throws
    {
        let server = try TestServer { $0.deadlines.request = .milliseconds(300) }
        let answers = try await trickle(
            String(repeating: "a", count: 49), to: server, after: head, octetEvery: 20_000)
        #expect(answers.map(\.status) == [408])
        #expect(answers.last?.body == "bodyTimeout")
        #expect(server.handler.handled.isEmpty)
        await server.stop()
    }

    @Test func `an idle connection is closed without a word`() async throws {
        let server = try TestServer { $0.deadlines.idle = .milliseconds(150) }
        let answers = try await server.answers(to: "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(answers.map(\.status) == [200])
        #expect(answers.last?.wasLast == true)
        await server.stop()
    }

    @Test
    func `a handler that does not answer in time is answered for with 503, and comes too late`()
        async throws
    {
        let server = try TestServer { $0.deadlines.answer = .milliseconds(150) }
        let answers = try await server.answers(to: "GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(answers.map(\.status) == [503])
        server.handler.releaseHeld()
        await server.stop()
    }

    @Test func `a client that never reads its answer is cut, and others are served meanwhile`()
        async throws
    {
        let server = try TestServer(lanes: 1) { $0.deadlines.write = .milliseconds(300) }
        let port = server.port
        let deaf = try await offPool {
            let client = try RawClient(port: port, receiveBuffer: 4096)
            client.send("GET /big?30000000 HTTP/1.1\r\nHost: a\r\n\r\n")
            return Kept(client)
        }
        let answers = try await server.answers(
            to: "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(answers.map(\.status) == [200])
        // The server gives up by itself: its end is awaited, not the client's.
        await server.untilEmpty()
        #expect(deaf.client.readAnswers().isEmpty)
        await server.stop()
    }

    @Test func `of many answers that a client never reads only some are made and kept`()
        async throws
    {
        let server = try TestServer(lanes: 1) { $0.deadlines.write = .milliseconds(300) }
        let port = server.port
        let deaf = try await offPool {
            let client = try RawClient(port: port, receiveBuffer: 4096)
            client.send(
                String(repeating: "GET /big?20000 HTTP/1.1\r\nHost: a\r\n\r\n", count: 1000))
            return Kept(client)
        }
        while server.handler.handled.isEmpty { await Task.yield() }
        await server.untilEmpty()
        // The kernel's share is in it: left alone it takes 2.8 MB for such a client.
        #expect(server.handler.handled.count <= 20)
        deaf.client.reset()
        await server.stop()
    }

    @Test func `a slow reader within the deadline gets all of a large answer`() async throws {
        let server = try TestServer(lanes: 1)
        let port = server.port
        let count = try await offPool {
            let client = try RawClient(port: port, receiveBuffer: 4096)
            client.send("GET /big?3000000 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            return try client.readToEnd().count { $0 == 0x78 }
        }
        #expect(count == 3_000_000)
        await server.stop()
    }

    @Test func `a peer that keeps sending after the last answer is cut at the deadline`()
        async throws
    {
        let server = try TestServer { $0.deadlines.linger = .milliseconds(150) }
        let port = server.port
        let kept = try await offPool {
            let client = try RawClient(port: port)
            client.send("GET / HTTP/9.9\r\n\r\n")
            #expect(client.readAnswers().map(\.status) == [505])
            return Kept(client)
        }
        await server.untilEmpty()
        withExtendedLifetime(kept) {}
        await server.stop()
    }

    private func trickle(
        _ text: String, to server: TestServer, after head: String = "",
        octetEvery pause: UInt32 = 1000
    ) async throws -> [Answer] {
        let port = server.port
        return try await offPool {
            let client = try RawClient(port: port)
            client.send(head)
            for octet in text.utf8 {
                guard client.send([octet]) else { break }
                client.pause(microseconds: pause)
            }
            return client.readAnswers()
        }
    }
}
