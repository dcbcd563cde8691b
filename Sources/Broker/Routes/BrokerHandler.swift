import JOSE
import SocketServer

/// The broker behind the socket server: finds the route and lets it answer.
final class BrokerHandler: HTTPHandler {
    private let mint: MintRoute
    private let consume: ConsumeRoute
    private let keySets: KeySetRoute
    private let readiness: Readiness
    private let log: EventLog
    private let clock: WallClock

    init(
        mint: MintRoute, consume: ConsumeRoute, keySets: KeySetRoute, readiness: Readiness,
        log: EventLog, clock: WallClock
    ) {
        self.mint = mint
        self.consume = consume
        self.keySets = keySets
        self.readiness = readiness
        self.log = log
        self.clock = clock
    }

    func admit(_ head: HTTPRequestHead, on lane: Lane) -> Admission {
        do {
            switch try Route(head) {
            case .mint(let kind):
                do throws(BrokerError) {
                    try mint.admit(head)
                } catch {
                    return .refuse(mint.refuse(kind, error, head: head))
                }
                return .read(bodyLimit: MintRequest.maximumLength)
            case .consume:
                do throws(BrokerError) {
                    try consume.admit(head)
                } catch {
                    return .refuse(consume.refuse(error, head: head))
                }
                return .read(bodyLimit: ConsumeRequest.maximumLength)
            case .keySet, .liveness, .readiness, .description: return .read(bodyLimit: 0)
            }
        } catch {
            return .refuse(refusal(error, head: head))
        }
    }

    func handle(_ request: HTTPRequest, on lane: Lane, reply: Reply) {
        do {
            switch try Route(request.head) {
            case .mint(let kind): mint.respond(kind, to: request, on: lane, reply: reply)
            case .consume: consume.respond(to: request, on: lane, reply: reply)
            case .keySet(let id): reply.send(try keySets.response(for: id, head: request.head))
            case .liveness: reply.send(LivenessRoute.response())
            case .readiness: readiness.report { reply.send($0.response()) }
            case .description: reply.send(DescriptionRoute.response(to: request.head))
            }
        } catch {
            reply.send(refusal(error, head: request.head))
        }
    }

    func answer(to rejection: HTTPRejection, from remote: RemoteAddress) -> HTTPResponse {
        let requestId = RequestId.choose(traceparent: nil)
        log.write("http.refused", at: clock.microseconds()) {
            $0.member("status", rejection.status)
            $0.member("cause", String(describing: rejection))
            $0.member("remote", remote.description)
            $0.member("request_id", requestId)
        }
        return Problem(.http(status: rejection.status, reason: rejection.reason)).response(
            requestId: requestId)
    }

    private func refusal(_ error: BrokerError, head: HTTPRequestHead) -> HTTPResponse {
        let requestId = RequestId.choose(traceparent: head.headers.first("traceparent"))
        let problem = Problem(error)
        log.write("http.refused", at: clock.microseconds()) {
            $0.member("status", problem.status)
            $0.member("cause", problem.code.rawValue)
            $0.member("remote", head.remote.description)
            $0.member("request_id", requestId)
        }
        return problem.response(requestId: requestId)
    }
}
