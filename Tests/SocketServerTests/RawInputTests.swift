import Testing

@testable import SocketServer

@Suite struct RawInputTests {
    @Test(arguments: RawInputs.all)
    func `each input gets its status, and the connection ends where it must`(_ input: RawInput)
        async throws
    {
        let server = try TestServer(lanes: 1)
        let answers = try await server.answers(
            to: input.bytes, count: input.closes ? nil : input.statuses.count)
        #expect(answers.map(\.status) == input.statuses)
        #expect(answers.last?.wasLast == input.closes)
        #expect(answers.last?.saysClose == input.closes)
        await server.stop()
    }

    @Test func `the table holds at least 120 inputs`() {
        #expect(RawInputs.all.count >= 120)
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
