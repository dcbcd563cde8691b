import SocketServer

/// Stands before a handler as TLS would: lends a request the certificate its test names.
final class CertifyingHandler: HTTPHandler {
    private let inner: any HTTPHandler
    private let certificates: [String: ClientCertificate]

    init(_ inner: any HTTPHandler, _ certificates: [String: ClientCertificate]) {
        self.inner = inner
        self.certificates = certificates
    }

    func admit(_ head: HTTPRequestHead, on lane: Lane) -> Admission {
        inner.admit(certified(head), on: lane)
    }

    func handle(_ request: HTTPRequest, on lane: Lane, reply: Reply) {
        inner.handle(
            HTTPRequest(head: certified(request.head), body: request.body), on: lane, reply: reply)
    }

    func answer(to rejection: HTTPRejection, from remote: RemoteAddress) -> HTTPResponse {
        inner.answer(to: rejection, from: remote)
    }

    private func certified(_ head: HTTPRequestHead) -> HTTPRequestHead {
        guard
            let certificate = head.headers.first("x-test-certificate").flatMap({ certificates[$0] })
        else { return head }
        return HTTPRequestHead(
            method: head.method, path: head.path, query: head.query, authority: head.authority,
            headers: head.headers, remote: head.remote, isSecure: head.isSecure,
            clientCertificate: certificate)
    }
}
