import Testing

@testable import SocketServer

/// OpenSSL keeps a list of faults for each thread. What another call has left there says nothing of a connection.
@Suite struct TLSErrorQueueTests {
    @Test func `a fault that was left on a lane's thread ends no connection`() async throws {
        let identity = try await TestIdentity()
        let server = try TestServer(tls: identity.configuration)
        let port = server.port
        let answers = try await offPool {
            let first = try TLSRawClient(port: port)
            var answers: [String?] = []
            func ask(_ client: TLSRawClient, _ path: String) {
                client.send("GET \(path) HTTP/1.1\r\nHost: example.test\r\n\r\n")
                answers.append(client.readAnswer()?.body)
            }
            ask(first, "/fault")
            ask(first, "/hello")
            ask(first, "/fault")
            // Its handshake waits for the client half-way.
            let second = try TLSRawClient(port: port)
            ask(second, "/hello")
            ask(first, "/hello")
            return answers
        }
        #expect(answers == ["left", "hello", "left", "hello", "hello"])
        await server.stop()
    }
}
