import AssertionMint
import JOSE

/// The one event every consume call leaves (`deploy/log-schema.json`). Never the assertion, nor the token.
struct ConsumeEvent: Sendable {
    let requestId: String
    let startedAt: Int64
    let remote: String
    var tenant: String?
    /// As the assertion says; proven once `kid` is there.
    var clientId: String?
    var tokenId: String?
    /// What was verified; without it the assertion has said nothing that can be believed.
    var assertion: VerifiedClientAssertion?

    init(requestId: String, startedAt: Int64, remote: String) {
        self.requestId = requestId
        self.startedAt = startedAt
        self.remote = remote
    }

    /// Writes `assertion.consumed`.
    func writeConsumed(to log: EventLog, at now: Int64) {
        log.write("assertion.consumed", at: now) { writeCommon(to: &$0, at: now) }
    }

    /// Writes `assertion.consume_refused` with the answer's code.
    func writeRefused(_ error: BrokerError, to log: EventLog, at now: Int64) {
        let problem = Problem(error)
        log.write("assertion.consume_refused", at: now) { json in
            json.member("code", problem.code.rawValue)
            json.member("status", problem.status)
            if let policy = problem.policy { json.member("policy", policy) }
            if let wait = problem.retryAfter { json.member("retry_after", wait) }
            if let cause = error.cause { json.member("cause", cause) }
            writeCommon(to: &json, at: now)
        }
    }

    private func writeCommon(to json: inout JSONWriter, at now: Int64) {
        json.member("request_id", requestId)
        if let tenant { json.member("tenant", tenant) }
        if let clientId { json.member("client_id", clientId) }
        if let jkt = assertion?.dpopJkt { json.member("jkt", jkt.rawValue) }
        if let tokenId { json.member("token_id", tokenId) }
        if let assertion {
            json.member("kid", assertion.kid)
            json.member("alg", assertion.algorithm.rawValue)
            json.member("jti", assertion.jti.rawValue)
        }
        json.member("duration_us", max(0, now - startedAt))
        json.member("remote", remote)
    }
}
