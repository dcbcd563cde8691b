import Testing

@testable import SocketServer

/// Each key update makes the server derive keys and has nothing for it to answer, so a peer may not go on with them for ever.
@Suite struct TLSKeyUpdateTests {
    @Test(arguments: [false, true])
    func `a peer that only renews its keys is cut off`(asksInReturn: Bool) async throws {
        let identity = try await TestIdentity()
        let server = try TestServer(tls: identity.configuration)
        let port = server.port
        let answer = try await offPool {
            let client = try TLSRawClient(port: port)
            // 132 KiB.
            try client.renewKeys(5000, asksInReturn: asksInReturn)
            client.send(RawInput.second)
            return client.readAnswer()
        }
        #expect(answer == nil)
        #expect(server.handler.handled.isEmpty)
        await server.untilEmpty()
        await server.stop()
    }

    @Test(arguments: [false, true])
    func `one that renews them between its requests is served for as long as it likes`(
        asksInReturn: Bool
    ) async throws {
        let identity = try await TestIdentity()
        let server = try TestServer(tls: identity.configuration)
        let port = server.port
        let answers = try await offPool {
            let client = try TLSRawClient(port: port)
            // 79 KiB each time.
            return try (0..<4).map { _ in
                try client.renewKeys(3000, asksInReturn: asksInReturn)
                client.send(RawInput.second)
                return client.readAnswer()?.body
            }
        }
        #expect(answers == ["hello", "hello", "hello", "hello"])
        await server.stop()
    }
}
