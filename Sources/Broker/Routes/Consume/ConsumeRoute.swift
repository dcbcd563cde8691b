import AssertionMint
import Dispatch
import JOSE
import SocketServer

/// `POST /v1/assertions/consume`: request → token → assertion verified → its identifier burnt → answer and one log event.
final class ConsumeRoute: Sendable {
    private let authenticator: Authenticator
    private let directories: DirectoryKeeper
    /// One a lane, by the lane's index.
    private let stores: [any AssertionStore]
    private let checks: VainChecks
    /// Of the clients' own keys, apart from those that strangers choose.
    private let keys = PublicKeyCache()
    private let log: EventLog
    private let clock: WallClock
    /// How often one call is decided again because the declaration changed under it.
    private static let attempts = 3

    init(
        authenticator: Authenticator, directories: DirectoryKeeper, stores: [any AssertionStore],
        checks: VainChecks = VainChecks(), log: EventLog, clock: WallClock
    ) {
        self.authenticator = authenticator
        self.directories = directories
        self.stores = stores
        self.checks = checks
        self.log = log
        self.clock = clock
    }

    /// What the head alone decides, cheapest first; throws the refusal.
    func admit(_ head: HTTPRequestHead) throws(BrokerError) {
        _ = try Credentials.token(head)
        try MediaType.requireJSON(head.headers)
    }

    /// Answers one call; called on the lane's queue.
    func respond(to request: HTTPRequest, on lane: Lane, reply: Reply) {
        let exchange = ConsumeExchange(
            request: request, reply: reply, lane: lane, event: event(for: request.head))
        attempt(exchange, left: Self.attempts)
    }

    /// Logs and makes the answer of a call that the head already decided.
    func refuse(_ error: BrokerError, head: HTTPRequestHead) -> HTTPResponse {
        refusal(error, event: event(for: head), head: head)
    }

    private func event(for head: HTTPRequestHead) -> ConsumeEvent {
        ConsumeEvent(
            requestId: RequestId.choose(traceparent: head.headers.first("traceparent")),
            startedAt: clock.microseconds(), remote: head.remote.description)
    }

    private func attempt(_ exchange: ConsumeExchange, left: Int) {
        do throws(BrokerError) {
            guard left > 0 else { throw .unavailable(.unsettled) }
            guard !log.isStalled else { throw .unavailable(.logStalled) }
            guard let directory = directories.current else { throw .unavailable(.notReady) }
            let head = exchange.request.head
            let token = try authenticator.token(
                head, scope: .consume, directory: directory, now: clock.seconds)
            exchange.event.tokenId = token.id
            exchange.event.tenant = token.tenant.rawValue
            let assertion = try verify(exchange, token, directory)
            exchange.event.assertion = assertion
            let record = ConsumeRecord(
                hash: assertion.replayHash, expiresAt: assertion.times.expiresAt,
                revision: directory.revision)
            stores[exchange.lane.index].consume(record) { verdict in
                self.conclude(
                    exchange, verdict, assertion, token, revision: directory.revision, left: left)
            }
        } catch {
            finish(exchange, error)
        }
    }

    private func verify(
        _ exchange: ConsumeExchange, _ token: APIToken, _ directory: Directory
    ) throws(BrokerError) -> VerifiedClientAssertion {
        let body = try ConsumeRequest(exchange.request.body)
        let assertion: ClientAssertion
        do { assertion = try ClientAssertion(parsing: body.assertion.expose()) } catch {
            throw .assertionRefused(.malformed(error))
        }
        exchange.event.clientId = assertion.clientId.rawValue
        guard let client = directory.clients[assertion.clientId] else {
            throw .assertionRefused(.unknownClient)
        }
        guard client.tenant == token.tenant else { throw .assertionRefused(.foreignClient) }
        let wait = checks.wait(for: token.id)
        guard wait == 0 else { throw .rateLimited(checks.policy, waitMicroseconds: wait) }
        let verified: VerifiedClientAssertion
        do {
            verified = try client.assertions.verify(
                assertion, audience: body.audience, now: clock.seconds
            ) { (jwk) throws(JWKError) in try key(jwk) }
        } catch {
            if error == .signature { checks.count(token.id) }
            throw .assertionRefused(.notGood(error))
        }
        if let jkt = verified.dpopJkt, directory.isBlocked(jkt, client: client.id) {
            throw .assertionRefused(.blockedInstall)
        }
        return verified
    }

    private func key(_ jwk: PublicJWK) throws(JWKError) -> PublicKey {
        if let known = keys.known(jwk) { return known }
        let key = try PublicKey(jwk)
        keys.keep(key, for: jwk)
        return key
    }

    private func conclude(
        _ exchange: ConsumeExchange, _ verdict: ConsumeVerdict,
        _ assertion: VerifiedClientAssertion, _ token: APIToken, revision: Int64, left: Int
    ) {
        switch verdict {
        case .consumed:
            exchange.event.writeConsumed(to: log, at: clock.microseconds())
            exchange.reply.send(ConsumeReply(assertion: assertion).response())
        case .alreadyUsed:
            checks.count(token.id)
            finish(exchange, .assertionUsed)
        case .stale:
            let lane = exchange.lane
            directories.reload(newerThan: revision) {
                lane.async { self.attempt(exchange, left: left - 1) }
            }
        case .unavailable(let fault): finish(exchange, .unavailable(.store(fault)))
        }
    }

    private func finish(_ exchange: ConsumeExchange, _ error: BrokerError) {
        exchange.reply.send(
            refusal(error, event: exchange.event, head: exchange.request.head))
    }

    private func refusal(
        _ error: BrokerError, event: ConsumeEvent, head: HTTPRequestHead
    ) -> HTTPResponse {
        let error = authenticator.judge(error, from: head.remote, caller: nil)
        event.writeRefused(error, to: log, at: clock.microseconds())
        var response = Problem(error, takesProofs: false).response(requestId: event.requestId)
        if let (policy, wait) = error.limit {
            response.headers +=
                LimitFields(policy: policy, remaining: 0, resetMicroseconds: wait).headers
        }
        return response
    }
}
