import AssertionMint
import Dispatch
import JOSE
import SocketServer

/// The calls that mint, whatever the kind of token: request → caller → grant → commit ∥ signature → answer and one log event.
final class MintRoute: Sendable {
    private let authenticator: Authenticator
    private let directories: DirectoryKeeper
    /// One a lane, by the lane's index.
    private let stores: [any AssertionStore]
    private let log: EventLog
    private let clock: WallClock
    /// How often one call is decided again because the declaration changed under it.
    private static let attempts = 3

    init(
        authenticator: Authenticator, directories: DirectoryKeeper, stores: [any AssertionStore],
        log: EventLog,
        clock: WallClock
    ) {
        self.authenticator = authenticator
        self.directories = directories
        self.stores = stores
        self.log = log
        self.clock = clock
    }

    /// What the head alone decides, cheapest first; throws the refusal.
    func admit(_ head: HTTPRequestHead) throws(BrokerError) {
        _ = try Credentials(head)
        try MediaType.requireJSON(head.headers)
    }

    /// Answers one call; called on the lane's queue.
    func respond(_ kind: TokenKind, to request: HTTPRequest, on lane: Lane, reply: Reply) {
        let exchange = MintExchange(
            request: request, reply: reply, lane: lane, event: event(kind, for: request.head))
        attempt(exchange, left: Self.attempts)
    }

    /// Logs and makes the answer of a call that the head already decided.
    func refuse(_ kind: TokenKind, _ error: BrokerError, head: HTTPRequestHead) -> HTTPResponse {
        refusal(
            error, event: event(kind, for: head), remote: head.remote, caller: nil,
            withNonce: false)
    }

    private func event(_ kind: TokenKind, for head: HTTPRequestHead) -> MintEvent {
        var event = MintEvent(
            kind, requestId: RequestId.choose(traceparent: head.headers.first("traceparent")),
            startedAt: clock.microseconds(), remote: head.remote.description)
        event.certificateSHA256 = head.clientCertificate?.sha256
        return event
    }

    private func attempt(_ exchange: MintExchange, left: Int) {
        do throws(BrokerError) {
            guard left > 0 else { throw .unavailable(.unsettled) }
            guard !log.isStalled else { throw .unavailable(.logStalled) }
            guard let directory = directories.current else { throw .unavailable(.notReady) }
            let grant = try decide(exchange, directory)
            try commit(grant, revision: directory.revision, exchange, left: left)
        } catch {
            finish(exchange, error)
        }
    }

    private func decide(_ exchange: MintExchange, _ directory: Directory) throws(BrokerError)
        -> Grant
    {
        let kind = exchange.event.kind
        let body = try MintRequest(exchange.request.body, for: kind)
        exchange.event.clientId = body.clientId.rawValue
        exchange.event.jkt = body.dpopJkt.rawValue
        exchange.event.jktProven = false
        let caller = try authenticator.caller(
            exchange.request.head, for: kind, directory: directory, now: clock.seconds)
        exchange.caller = caller
        exchange.event.tokenId = caller.token?.id
        exchange.event.jktProven = caller.proof?.jkt == body.dpopJkt
        let (client, gate) = try caller.client(body.clientId, in: directory)
        exchange.event.tenant = client.tenant.rawValue
        exchange.event.gate = gate.description
        let grant = try Grant(body, client: client, caller: caller, directory: directory)
        exchange.event.kid = grant.token.kid
        exchange.event.algorithm = grant.token.algorithm
        return grant
    }

    private func commit(
        _ grant: Grant, revision: Int64, _ exchange: MintExchange, left: Int
    ) throws(BrokerError) {
        // Known before anything is spent.
        let device = grant.device
        if let refusal = device?.refusal {
            throw .unavailable(.key(refusal.description))
        }
        let now = clock.seconds
        let jti: JTI
        do { jti = try JTI.random(at: now) } catch { throw .unavailable(.randomness) }
        let times = grant.token.times(now: now)
        exchange.event.jti = jti.rawValue
        exchange.token = nil
        exchange.turn += 1
        let record = MintRecord(
            clientId: grant.client.id.rawValue, tenantId: grant.client.tenant.rawValue,
            dpopJkt: grant.dpopJkt.rawValue, jti: jti.rawValue, issuedAt: times.issuedAt,
            expiresAt: times.expiresAt,
            proof: grant.proof.map { ProofUse(hash: $0.replayHash, issuedAt: $0.iat) },
            install: grant.limits.install, client: grant.limits.client,
            tenant: grant.limits.tenant, revision: revision,
            shadows: grant.limits.shadows)
        stores[exchange.lane.index].record(record) {
            if let device {
                Self.sign(grant, jti, times, on: device, exchange)
            } else {
                exchange.token = Self.sign(grant, jti, times)
            }
        } then: { verdict in
            func goOn() {
                self.conclude(
                    exchange, verdict, grant: grant, jti: jti, times: times, revision: revision,
                    left: left)
            }
            if case .recorded = verdict, exchange.token == nil, device != nil {
                // The device answers, or fails, in bounded time.
                exchange.whenSigned = goOn
            } else {
                goOn()
            }
        }
    }

    /// Lets the device sign on its own threads, and goes on with the answer on the lane.
    private static func sign(
        _ grant: Grant, _ jti: JTI, _ times: AssertionTimes, on device: KeyDevice,
        _ exchange: MintExchange
    ) {
        let turn = exchange.turn
        device.sign { () throws(KeyError) in
            try sign(grant, jti, times).get()
        } then: { result in
            exchange.lane.async {
                guard exchange.turn == turn else { return }
                exchange.token = result
                let goOn = exchange.whenSigned
                exchange.whenSigned = nil
                goOn?()
            }
        }
    }

    private static func sign(_ grant: Grant, _ jti: JTI, _ times: AssertionTimes) -> Result<
        Secret<String>, KeyError
    > {
        do {
            return .success(
                try grant.token.sign(for: grant.dpopJkt, jti: jti, times: times))
        } catch {
            return .failure(error)
        }
    }

    private func conclude(
        _ exchange: MintExchange, _ verdict: MintVerdict, grant: Grant, jti: JTI,
        times: AssertionTimes,
        revision: Int64, left: Int
    ) {
        switch verdict {
        case .recorded(let remaining, let reset, let shadows):
            switch exchange.token {
            case .success(let token):
                exchange.event.shadows = shadows
                let limit = LimitFields(
                    policy: grant.limits.install, remaining: remaining,
                    resetMicroseconds: reset)
                finish(
                    exchange,
                    MintReply(
                        kind: grant.token.kind, token: token, jti: jti, times: times,
                        now: clock.seconds, limit: limit))
            case .failure(let error): finish(exchange, .unavailable(.key(error.description)))
            case nil: finish(exchange, .unavailable(.key("no signature was made")))
            }
        case .limited(let policy, let wait):
            finish(exchange, .rateLimited(policy, waitMicroseconds: wait))
        case .proofReplayed: finish(exchange, .dpopProofReplayed)
        case .stale:
            let lane = exchange.lane
            directories.reload(newerThan: revision) {
                lane.async { self.attempt(exchange, left: left - 1) }
            }
        case .unavailable(let fault): finish(exchange, .unavailable(.store(fault)))
        }
    }

    private func finish(_ exchange: MintExchange, _ reply: MintReply) {
        var response = reply.response()
        addNonce(to: &response, if: exchange.request.head.headers.count("dpop") > 0)
        exchange.event.remaining = reply.limit.remaining
        exchange.event.writeMinted(to: log, at: clock.microseconds())
        exchange.reply.sendOnLane(response)
    }

    private func finish(_ exchange: MintExchange, _ error: BrokerError) {
        // No token left, so the jti names nothing, whether or not it was committed.
        exchange.event.jti = nil
        let head = exchange.request.head
        exchange.reply.sendOnLane(
            refusal(
                error, event: exchange.event, remote: head.remote, caller: exchange.caller,
                withNonce: head.headers.count("dpop") > 0))
    }

    private func refusal(
        _ error: BrokerError, event: MintEvent, remote: RemoteAddress, caller: Caller?,
        withNonce: Bool
    ) -> HTTPResponse {
        let error = authenticator.judge(error, from: remote, caller: caller)
        event.writeRefused(error, to: log, at: clock.microseconds())
        var response = Problem(error, takesCertificates: authenticator.takesCertificates)
            .response(requestId: event.requestId)
        if let (policy, wait) = error.limit {
            response.headers +=
                LimitFields(policy: policy, remaining: 0, resetMicroseconds: wait).headers
        }
        addNonce(to: &response, if: withNonce)
        return response
    }

    /// RFC 9449 §8.2: the newest nonce travels on every answer to a request with a proof.
    private func addNonce(to response: inout HTTPResponse, if wanted: Bool) {
        guard wanted, let nonces = directories.current?.nonces else { return }
        response.headers.append(("DPoP-Nonce", nonces.current(now: clock.seconds)))
    }
}
