import JOSE
import SocketServer
import Synchronization

/// A broker's `jwks_uri` on a real socket, over TLS.
final class KeyPublisher: Sendable {
    private let handler: Handler
    private let server: HTTPServer

    init(_ keys: JWKSet, status: Int = 200, certificate: String, key: String) throws {
        handler = Handler(
            HTTPResponse(
                status: status,
                headers: [("Cache-Control", "max-age=600"), ("Location", "/elsewhere")],
                body: Array(keys.jsonText.utf8)))
        server = try HTTPServer(
            HTTPServerConfiguration(
                address: "127.0.0.1", port: 0,
                tls: TLSConfiguration(certificateChainFile: certificate, privateKeyFile: key)),
            lanes: [Lane(index: 0)], handler: handler)
        try server.start()
    }

    var port: UInt16 { server.port }

    var requests: Int { handler.count.withLock { $0 } }

    func stop() async { await server.drain(grace: .zero) }

    private final class Handler: HTTPHandler {
        let response: HTTPResponse
        let count = Mutex(0)

        init(_ response: HTTPResponse) { self.response = response }

        func admit(_ head: HTTPRequestHead, on lane: Lane) -> Admission { .read(bodyLimit: 0) }

        func handle(_ request: HTTPRequest, on lane: Lane, reply: SocketServer.Reply) {
            count.withLock { $0 += 1 }
            reply.send(response)
        }

        func answer(to rejection: HTTPRejection, from remote: RemoteAddress) -> HTTPResponse {
            HTTPResponse(status: rejection.status)
        }
    }
}
