import COpenSSL
import Dispatch

@testable import SocketServer

/// A small application: its routes show what the server hands over.
final class TestHandler: HTTPHandler {
    private let state = Locked(State())

    private struct State {
        var handled: [String] = []
        var held: [Reply] = []
        var waiters: [(count: Int, resume: @Sendable () -> Void)] = []
    }

    /// `method path` of each request that reached `handle`.
    var handled: [String] { state.withLock(\.handled) }

    func admit(_ head: HTTPRequestHead, on lane: Lane) -> Admission {
        switch head.path {
        case "/refuse": .refuse(HTTPResponse(status: 404, body: Array("refused".utf8)))
        case "/refuse-and-close":
            .refuse(HTTPResponse(status: 401, body: Array("refused".utf8), closesConnection: true))
        case "/large": .read(bodyLimit: 1 << 20)
        default: .read(bodyLimit: 64)
        }
    }

    func handle(_ request: HTTPRequest, on lane: Lane, reply: Reply) {
        let head = request.head
        state.withLock { $0.handled.append("\(head.method) \(head.path)") }
        switch head.path {
        case "/hello": reply.send(HTTPResponse(status: 200, body: Array("hello".utf8)))
        case "/echo", "/large": reply.send(HTTPResponse(status: 200, body: request.body))
        case "/later":
            DispatchQueue.global().async {
                reply.send(HTTPResponse(status: 200, body: Array("later".utf8)))
                reply.send(HTTPResponse(status: 500, body: Array("twice".utf8)))
            }
        case "/hold": hold(reply)
        case "/drop": break
        case "/fault":
            // Fails, and leaves word of it with the thread.
            BIO_free(BIO_new_file("/none/such", "r"))
            reply.send(HTTPResponse(status: 200, body: Array("left".utf8)))
        case "/empty": reply.send(HTTPResponse(status: 204))
        case "/close":
            reply.send(HTTPResponse(status: 200, body: Array("bye".utf8), closesConnection: true))
        case "/split":
            reply.send(HTTPResponse(status: 200, headers: [("X", "a\r\nSet-Cookie: b")]))
        case "/big":
            reply.send(
                HTTPResponse(
                    status: 200,
                    body: Array(repeating: 0x78, count: head.query.flatMap { Int($0) } ?? 0)))
        case "/who":
            let words = "\(head.remote) by \(head.peer) \(head.isSecure ? "secure" : "plain")"
            reply.send(HTTPResponse(status: 200, body: Array(words.utf8)))
        case "/describe":
            let lines = [
                head.method, head.path, head.query ?? "-", head.authority, "\(head.remote)",
                "\(head.isSecure)", head.headers.first("x-one") ?? "-",
                head.headers.all("x-many").joined(separator: "|"),
            ]
            reply.send(HTTPResponse(status: 200, body: Array(lines.joined(separator: "\n").utf8)))
        case "/certificate":
            let lines = head.clientCertificate.map { certificate in
                [certificate.sha256.map(Self.hex).joined()]
                    + certificate.names.map { "\($0)" }.sorted()
            }
            let text = lines?.joined(separator: "\n") ?? "none"
            reply.send(HTTPResponse(status: 200, body: Array(text.utf8)))
        default: reply.send(HTTPResponse(status: 404, body: Array("nothing here".utf8)))
        }
    }

    func answer(to rejection: HTTPRejection, from remote: RemoteAddress) -> HTTPResponse {
        HTTPResponse(status: rejection.status, body: Array("\(rejection)".utf8))
    }

    private static func hex(_ octet: UInt8) -> String {
        String(octet >> 4, radix: 16) + String(octet & 15, radix: 16)
    }

    private func hold(_ reply: Reply) {
        let ready = state.withLock { state in
            state.held.append(reply)
            let ready = state.waiters.filter { $0.count <= state.held.count }
            state.waiters.removeAll { $0.count <= state.held.count }
            return ready
        }
        for waiter in ready { waiter.resume() }
    }

    /// Returns once so many requests are held at the same time.
    func untilHeld(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                guard state.held.count < count else { return true }
                state.waiters.append((count, { continuation.resume() }))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    func releaseHeld() {
        let held = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        for reply in held { reply.send(HTTPResponse(status: 200, body: Array("held".utf8))) }
    }
}
