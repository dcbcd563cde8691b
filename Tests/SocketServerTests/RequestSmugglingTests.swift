import Testing

@testable import SocketServer

/// The request smuggling suite: raw octets, each with the status it must get and whether the connection must end, and behind it
/// a second request that must not run where the first leaves its own end in doubt.
@Suite struct RequestSmugglingTests {
    @Test(arguments: RawInputs.all)
    func
        `each input gets its status, the connection ends where it must, and nothing behind it runs`(
            _ input: RawInput
        ) async throws
    {
        let server = try TestServer(lanes: 1)
        try await expect(input, on: server)
        await server.stop()
    }

    @Test func `the same holds on a Unix socket, one connection after the other`() async throws {
        let directory = try TemporaryDirectory()
        let path = try #require(UnixSocketPath(directory.file("a.sock")))
        let server = try TestServer(lanes: 1, on: .unix(path, mode: .ownerAndGroup))
        for input in RawInputs.all { try await expect(input, on: server) }
        await server.stop()
    }

    private func expect(_ input: RawInput, on server: TestServer) async throws {
        let before = server.handler.handled
        let answers = try await server.answers(
            to: input.bytes, count: input.closes ? nil : input.statuses.count)
        #expect(answers.map(\.status) == input.statuses, "\(input.fault)")
        #expect(answers.last?.wasLast == input.closes, "\(input.fault)")
        #expect(answers.last?.saysClose == input.closes, "\(input.fault)")
        // What the server refuses by itself never reaches the handler; 404 comes from either.
        let ran = server.handler.handled.count - before.count
        let good = input.statuses.count { $0 == 200 }
        #expect(
            (good...(good + input.statuses.count { $0 == 404 })).contains(ran), "\(input.fault)")
    }

    @Test func `the table holds at least 120 inputs, and no two are the same`() {
        #expect(RawInputs.all.count >= 300)
        #expect(Set(RawInputs.all.map(\.bytes)).count == RawInputs.all.count)
    }

    @Test func `a refused HEAD has no content, also when the fault is behind the request line`()
        async throws
    {
        let server = try TestServer(lanes: 1)
        let address = server.server.listening
        for request in [
            "HEAD / HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n",
            "HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\n",
            "HEAD / HTTP/1.1\r\n\r\n",
        ] {
            let text = try await offPool {
                let client = try RawClient(address)
                client.send(request)
                return String(decoding: try client.readToEnd(), as: UTF8.self)
            }
            #expect(text.hasPrefix("HTTP/1.1 400 "))
            #expect(text.hasSuffix("\r\n\r\n"), "\(text)")
        }
        await server.stop()
    }

    @Test(arguments: [
        "GET /hello HTTP/1.1\r\nHost: a\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n123",
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n",
    ])
    func `a request that ends too early is refused and never handled`(_ text: String) async throws {
        let server = try TestServer(lanes: 1)
        let answers = try await server.answers(to: text, endsInput: true)
        #expect(answers.map(\.status) == [400])
        #expect(answers.first?.body == "incompleteRequest")
        #expect(server.handler.handled.isEmpty)
        await server.stop()
    }

    @Test func `a CONNECT is told what is allowed`() async throws {
        let server = try TestServer(lanes: 1)
        let answers = try await server.answers(to: "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n")
        #expect(answers.first?.fields["allow"] == "GET, HEAD, POST")
        await server.stop()
    }

    @Test func `the body is asked for once it is wanted, and not when it is already here`()
        async throws
    {
        let server = try TestServer(lanes: 1)
        let head =
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-Continue\r\n\r\n"
        let port = server.port
        let asked = try await offPool {
            let client = try RawClient(port: port)
            client.send(head)
            let interim = client.readAnswers(count: 1)
            client.send("12345")
            return interim + client.readAnswers(count: 1)
        }
        #expect(asked.map(\.status) == [100, 200])
        #expect(asked.last?.body == "12345")
        let unasked = try await server.answers(to: head + "12345", count: 1)
        #expect(unasked.map(\.status) == [200])
        await server.stop()
    }

    @Test func `an early refusal arrives although the client first sends all of a large body`()
        async throws
    {
        let server = try TestServer(lanes: 1)
        let address = server.server.listening
        let answers = try await offPool {
            let client = try RawClient(address)
            client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 20000000\r\n\r\n")
            #expect(client.send([UInt8](repeating: 0x61, count: 20_000_000)))
            client.endInput()
            return client.readAnswers()
        }
        #expect(answers.map(\.status) == [413])
        await server.stop()
    }

    @Test func `an early refusal arrives although the client is still sending`() async throws {
        let server = try TestServer(lanes: 1)
        let port = server.port
        for _ in 0..<20 {
            let answers = try await offPool {
                let client = try RawClient(port: port)
                client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n")
                client.send([UInt8](repeating: 0x61, count: 500_000))
                return client.readAnswers()
            }
            #expect(answers.map(\.status) == [413])
            #expect(answers.last?.wasLast == true)
        }
        await server.stop()
    }

    @Test func `a refused body that breaks ends the connection, and nothing behind it runs`()
        async throws
    {
        let server = try TestServer(lanes: 1)
        let answers = try await server.answers(
            to: "POST /refuse HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "zz\r\n\(RawInput.second)")
        #expect(answers.map(\.status) == [404])
        #expect(answers.last?.wasLast == true)
        #expect(server.handler.handled.isEmpty)
        await server.stop()
    }
}
