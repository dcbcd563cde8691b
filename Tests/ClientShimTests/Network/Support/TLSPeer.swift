import SocketServer
import Synchronization
import TestKit

/// A server over TLS on a free loopback port, whose answers the test decides.
final class TLSPeer: Sendable {
    /// A request as it came.
    struct Seen: Sendable {
        let method: String
        let path: String
        let query: String?
        /// Names in lower case.
        let headers: [(name: String, value: String)]
        let body: [UInt8]

        func all(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }
    }

    struct Answer: Sendable {
        var status = 200
        var headers: [(name: String, value: String)] = []
        var body: [UInt8] = []
    }

    let requests = EventTrail<Seen>()
    private let server: HTTPServer
    private let handler: Handler

    /// - Parameter answer: `nil` leaves the request without one for as long as the peer lives.
    init(
        _ certificate: TestAuthority.Certificate,
        answer: @escaping @Sendable (Seen) async -> Answer? = { _ in Answer() }
    ) throws {
        handler = Handler(requests, answer)
        var configuration = HTTPServerConfiguration(
            address: "127.0.0.1", port: 0,
            tls: TLSConfiguration(
                certificateChainFile: certificate.certificateFile,
                privateKeyFile: certificate.keyFile))
        configuration.deadlines = .ample
        server = try HTTPServer(configuration, lanes: [Lane(index: 0)], handler: handler)
        try server.start()
    }

    var port: UInt16 { server.port }
    var url: String { "https://127.0.0.1:\(server.port)" }

    func stop() async { await server.drain(grace: .zero) }

    private final class Handler: HTTPHandler {
        private let requests: EventTrail<Seen>
        private let answer: @Sendable (Seen) async -> Answer?
        /// Kept, since a reply that goes away answers.
        private let unanswered = Mutex<[SocketServer.Reply]>([])

        init(_ requests: EventTrail<Seen>, _ answer: @escaping @Sendable (Seen) async -> Answer?) {
            self.requests = requests
            self.answer = answer
        }

        func admit(_ head: HTTPRequestHead, on lane: Lane) -> Admission {
            .read(bodyLimit: 64 << 20)
        }

        func handle(_ request: HTTPRequest, on lane: Lane, reply: SocketServer.Reply) {
            let seen = Seen(
                method: request.head.method, path: request.head.path, query: request.head.query,
                headers: request.head.headers.pairs, body: request.body)
            requests.append(seen)
            Task {
                guard let answer = await answer(seen) else {
                    unanswered.withLock { $0.append(reply) }
                    return
                }
                reply.send(
                    HTTPResponse(status: answer.status, headers: answer.headers, body: answer.body))
            }
        }

        func answer(to rejection: HTTPRejection, from remote: RemoteAddress) -> HTTPResponse {
            HTTPResponse(status: rejection.status)
        }
    }
}

extension HTTPDeadlines {
    /// No test is about a server's patience here, and a busy machine must not look like one that lost it.
    static var ample: HTTPDeadlines {
        var deadlines = HTTPDeadlines()
        deadlines.handshake = .seconds(600)
        deadlines.head = .seconds(600)
        deadlines.request = .seconds(600)
        deadlines.answer = .seconds(600)
        deadlines.write = .seconds(600)
        return deadlines
    }
}
