import Testing

@testable import SocketServer

@Suite struct ExchangeTests {
    @Test func `answers a plain request and keeps the connection`() async throws {
        let server = try TestServer()
        let request = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"
        let answers = try await server.answers(to: request + request, count: 2)
        #expect(answers.map(\.status) == [200, 200])
        #expect(answers.map(\.body) == ["hello", "hello"])
        #expect(answers[0].fields["date"]?.hasSuffix(" GMT") == true)
        #expect(answers[0].fields["connection"] == nil)
        await server.stop()
    }

    @Test func `hands the handler what the request said`() async throws {
        let server = try TestServer()
        let answers = try await server.answers(
            to: "GET /describe?a=%20b HTTP/1.1\r\nHost: example.org:8443\r\nX-One: \t one \r\n"
                + "x-MANY: 1\r\nX-Many:2\r\n\r\n", count: 1)
        #expect(
            answers.first?.body
                == "GET\n/describe\na=%20b\nexample.org:8443\n127.0.0.1\nfalse\none\n1|2")
        await server.stop()
    }

    @Test func `pipelined requests are answered in order, also when one is answered later`()
        async throws
    {
        let server = try TestServer()
        let answers = try await server.answers(
            to: "GET /later HTTP/1.1\r\nHost: a\r\n\r\n"
                + "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
                + "GET /drop HTTP/1.1\r\nHost: a\r\n\r\n" + "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"
        )
        #expect(answers.map(\.status) == [200, 200, 500])
        #expect(answers.map(\.body) == ["later", "abc", "handlerFailed"])
        #expect(answers.last?.wasLast == true)
        #expect(server.handler.handled == ["GET /later", "POST /echo", "GET /drop"])
        await server.stop()
    }

    @Test func `a thousand pipelined requests are served without deep recursion`() async throws {
        let server = try TestServer()
        let request = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"
        let answers = try await server.answers(
            to: String(repeating: request, count: 1000), count: 1000)
        #expect(answers.count == 1000)
        #expect(answers.allSatisfy { $0.body == "hello" })
        await server.stop()
    }

    @Test func `a client that pipelines without end lets others have their turn`() async throws {
        let server = try TestServer(lanes: 1)
        let address = server.server.listening
        let endless = Task {
            try await offPool {
                let client = try RawClient(address)
                let many = Array(String(repeating: RawInput.second, count: 1000).utf8)
                var answered = 0
                while client.send(many) {
                    let answers = client.readAnswers(count: 1000)
                    answered += answers.count
                    if answers.count < 1000 { break }
                }
                return answered
            }
        }
        for _ in 0..<100 {
            let answers = try await server.answers(to: RawInput.second, count: 1)
            #expect(answers.map(\.status) == [200])
        }
        // Draining gets its turn too.
        await server.server.drain(grace: .seconds(60))
        #expect(try await endless.value > 0)
    }

    @Test(arguments: [0, 3, 200])
    func `what follows a request that was refused on its head is answered`(bodyLength: Int)
        async throws
    {
        let server = try TestServer()
        let body = String(repeating: "x", count: bodyLength)
        let refused =
            "POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: \(bodyLength)\r\n\r\n\(body)"
        let answers = try await server.answers(
            to: refused + refused + "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n", count: 3)
        #expect(answers.map(\.status) == [404, 404, 200])
        #expect(answers.last?.body == "hello")
        await server.stop()
    }

    @Test func `HEAD has the length and no content`() async throws {
        let server = try TestServer()
        let port = server.port
        let answer = try await offPool {
            let client = try RawClient(port: port)
            client.send("HEAD /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            return String(decoding: try client.readToEnd(), as: UTF8.self)
        }
        #expect(answer.contains("Content-Length: 5\r\n"))
        #expect(answer.hasSuffix("\r\n\r\n"))
        await server.stop()
    }

    @Test func `204 has no content and no length`() async throws {
        let server = try TestServer()
        let answers = try await server.answers(
            to: "GET /empty HTTP/1.1\r\nHost: a\r\n\r\n", count: 1)
        #expect(answers.first?.status == 204)
        #expect(answers.first?.fields["content-length"] == nil)
        await server.stop()
    }

    @Test func `a header value with a line end becomes a 500, never a second field`() async throws {
        let server = try TestServer()
        let answers = try await server.answers(to: "GET /split HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(answers.map(\.status) == [500])
        #expect(answers.first?.fields["set-cookie"] == nil)
        await server.stop()
    }

    @Test func `a client that only ended its sending still gets its answers`() async throws {
        let server = try TestServer()
        let request = "GET /later HTTP/1.1\r\nHost: a\r\n\r\n"
        let answers = try await server.answers(to: request + request, endsInput: true)
        #expect(answers.map(\.body) == ["later", "later"])
        #expect(answers.last?.wasLast == true)
        await server.stop()
    }
}
