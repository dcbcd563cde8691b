import JOSE
import SocketServer

/// The provider behind the socket server. Every request is answered from a task, since keys may have to be fetched.
final class SandboxHandler: HTTPHandler {
    private let provider: SandboxProvider

    init(_ provider: SandboxProvider) {
        self.provider = provider
    }

    func admit(_ head: HTTPRequestHead, on lane: Lane) -> Admission {
        do {
            _ = try provider.route(head)
            return .read(bodyLimit: Route.bodyLimit)
        } catch {
            return .refuse(provider.refuse(error, on: "unknown"))
        }
    }

    func handle(_ request: HTTPRequest, on lane: Lane, reply: Reply) {
        Task { [provider] in reply.send(await provider.answer(request)) }
    }

    func answer(to rejection: HTTPRejection, from remote: RemoteAddress) -> HTTPResponse {
        .json(rejection.status) {
            $0.member("error", "invalid_request")
            $0.member("error_description", rejection.reason)
        }
    }
}
