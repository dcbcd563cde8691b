@testable import SocketServer

/// A server with a handler of its own, on a free loopback port unless a test says otherwise.
struct TestServer {
    let handler = TestHandler()
    let server: HTTPServer
    var port: UInt16 { server.port }

    init(
        lanes: Int = 2, on endpoint: ListeningEndpoint = .tcp(address: "127.0.0.1", port: 0),
        tls: TLSConfiguration? = nil,
        configure: (inout HTTPServerConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = HTTPServerConfiguration(endpoint, tls: tls)
        // A busy machine must not run into a deadline that a test is not about.
        configuration.deadlines.handshake = .seconds(300)
        configuration.deadlines.head = .seconds(300)
        configuration.deadlines.request = .seconds(300)
        configuration.deadlines.answer = .seconds(300)
        configuration.deadlines.write = .seconds(300)
        configuration.deadlines.idle = .seconds(300)
        configuration.deadlines.linger = .seconds(300)
        configure(&configuration)
        server = try HTTPServer(
            configuration, lanes: (0..<lanes).map(Lane.init(index:)), handler: handler)
        try server.start()
    }

    /// Returns once no connection is left.
    func untilEmpty() async {
        await withCheckedContinuation { continuation in
            server.core.ledger.whenEmpty { continuation.resume() }
        }
    }

    func stop() async { await server.drain(grace: .zero) }

    /// Sends octets on one connection and gives the answers up to the server's end of it, or up to `count` answers.
    func answers(
        to bytes: [UInt8], count: Int? = nil, endsInput: Bool = false, cuts: [Int] = []
    ) async throws -> [Answer] {
        let address = server.listening
        return try await offPool {
            let client = try RawClient(address)
            var sent = 0
            for cut in cuts + [bytes.count] {
                client.send(Array(bytes[sent..<cut]))
                sent = cut
            }
            if endsInput { client.endInput() }
            return client.readAnswers(count: count)
        }
    }

    func answers(
        to text: String, count: Int? = nil, endsInput: Bool = false
    ) async throws -> [Answer] {
        try await answers(to: Array(text.utf8), count: count, endsInput: endsInput)
    }
}
