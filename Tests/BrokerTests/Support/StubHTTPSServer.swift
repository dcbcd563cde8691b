import SocketServer
import Synchronization
import TestKit

/// An HTTPS server that answers as its test says; what a provider, or a broker's proxy, might be.
final class StubHTTPSServer: Sendable {
    /// What to do with a request; `nil` never answers.
    typealias Answer = @Sendable (HTTPRequest) -> HTTPResponse?

    private let handler: Handler
    private let server: HTTPServer

    /// - Parameter authority: vouches for the server's certificate, which is for 127.0.0.1 and 127.0.0.2.
    init(_ authority: TestAuthority, _ answer: @escaping Answer) async throws {
        let files = try await authority.sign(
            "server", "IP:127.0.0.1,IP:127.0.0.2", for: "serverAuth")
        handler = Handler(answer)
        server = try HTTPServer(
            HTTPServerConfiguration(
                address: "0.0.0.0", port: 0,
                tls: TLSConfiguration(
                    certificateChainFile: files.certificate, privateKeyFile: files.key)),
            lanes: [Lane(index: 0)], handler: handler)
        try server.start()
    }

    var origin: String { "https://127.0.0.1:\(server.port)" }
    var port: UInt16 { server.port }

    /// Methods and paths so far, in order.
    var requests: [String] { handler.requests.withLock { $0 } }

    func stop() async {
        handler.unanswered.withLock { $0 = [] }
        await server.drain(grace: .zero)
    }

    private final class Handler: HTTPHandler {
        let answer: Answer
        let requests = Mutex<[String]>([])
        let unanswered = Mutex<[Reply]>([])

        init(_ answer: @escaping Answer) { self.answer = answer }

        func admit(_ head: HTTPRequestHead, on lane: Lane) -> Admission { .read(bodyLimit: 65_536) }

        func handle(_ request: HTTPRequest, on lane: Lane, reply: Reply) {
            requests.withLock { $0.append("\(request.head.method) \(request.head.path)") }
            guard let response = answer(request) else {
                return unanswered.withLock { $0.append(reply) }
            }
            reply.send(response)
        }

        func answer(to rejection: HTTPRejection, from remote: RemoteAddress) -> HTTPResponse {
            HTTPResponse(status: rejection.status)
        }
    }
}

extension HTTPResponse {
    /// A JSON document.
    static func document(
        _ text: String, status: Int = 200, type: String = "application/json",
        headers: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: [("Content-Type", type)] + headers, body: Array(text.utf8))
    }
}
