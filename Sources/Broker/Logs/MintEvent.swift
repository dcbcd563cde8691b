import AssertionMint
import JOSE

/// The one event every mint leaves (`design.md` §8, `deploy/log-schema.json`). Never an assertion, a token, a proof or a key.
struct MintEvent: Sendable {
    let kind: TokenKind
    let requestId: String
    let startedAt: Int64
    let remote: String
    var tenant: String?
    var clientId: String?
    var jkt: String?
    /// Whether a DPoP proof showed that the caller holds the install's key, or the backend only said so.
    var jktProven: Bool?
    var gate: String?
    var tokenId: String?
    /// SHA-256 of the client certificate's DER form, when the connection has one that our authorities stand for.
    var certificateSHA256: [UInt8]?
    /// A shared secret has none.
    var kid: String?
    var algorithm: String?
    var jti: String?
    var remaining: Int?
    /// Shadow limits that would have refused the mint.
    var shadows: [ShadowRefusal] = []

    init(_ kind: TokenKind, requestId: String, startedAt: Int64, remote: String) {
        self.kind = kind
        self.requestId = requestId
        self.startedAt = startedAt
        self.remote = remote
    }

    /// Writes `assertion.minted`, whatever the kind: `kind` tells, and who counts mints or replays limits counts them all.
    func writeMinted(to log: EventLog, at now: Int64) {
        log.write("assertion.minted", at: now) { writeCommon(to: &$0, at: now) }
    }

    /// Writes `assertion.refused` with the answer's code.
    func writeRefused(_ error: BrokerError, to log: EventLog, at now: Int64) {
        let problem = Problem(error)
        log.write("assertion.refused", at: now) { json in
            json.member("code", problem.code.rawValue)
            json.member("status", problem.status)
            if let policy = problem.policy { json.member("policy", policy) }
            if let limit = error.limit {
                json.member("retry_after", Problem.wholeSeconds(limit.waitMicroseconds))
            } else if case .unavailable = error {
                json.member("retry_after", 1)
            }
            if let cause = error.cause { json.member("cause", cause) }
            writeCommon(to: &json, at: now)
        }
    }

    private func writeCommon(to json: inout JSONWriter, at now: Int64) {
        json.member("kind", kind.rawValue)
        json.member("request_id", requestId)
        if let tenant { json.member("tenant", tenant) }
        if let clientId { json.member("client_id", clientId) }
        if let jkt { json.member("jkt", jkt) }
        if let jktProven { json.member("jkt_proven", jktProven) }
        if let gate { json.member("gate", gate) }
        if let tokenId { json.member("token_id", tokenId) }
        if let certificateSHA256 {
            json.member("certificate_sha256", CertificateIdentity.hex(certificateSHA256))
        }
        if let kid { json.member("kid", kid) }
        if let algorithm { json.member("alg", algorithm) }
        if let jti { json.member("jti", jti) }
        if let remaining { json.member("remaining", remaining) }
        if !shadows.isEmpty {
            json.name("shadow")
            json.array { json in
                for shadow in shadows {
                    json.object {
                        $0.member("policy", shadow.policy.name)
                        $0.member("retry_after", Problem.wholeSeconds(shadow.waitMicroseconds))
                    }
                }
            }
        }
        json.member("duration_us", max(0, now - startedAt))
        json.member("remote", remote)
    }
}
