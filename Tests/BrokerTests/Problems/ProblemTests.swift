import AssertionMint
import JOSE
import SocketServer
import Testing

@testable import Broker

/// `design.md` §3, row by row.
@Suite struct ProblemTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let error: BrokerError
        let status: Int
        let code: String
        var testDescription: String { "\(status) \(code)" }
    }

    static let policy = RatePolicy(name: "install", burst: 3, stepMicroseconds: 20_000_000)
    /// What must never reach a caller.
    static let canary = "canary: relation \"secret\" does not exist"

    static let rows: [Row] = [
        Row(error: .malformedRequest("client_id is missing"), status: 400, code: "invalid_request"),
        Row(error: .audienceNotAllowed, status: 400, code: "invalid_audience"),
        Row(error: .useDpopNonce, status: 401, code: "use_dpop_nonce"),
        Row(error: .invalidDpopProof(.signature), status: 401, code: "invalid_dpop_proof"),
        Row(error: .invalidDpopProof(.claim(canary)), status: 401, code: "invalid_dpop_proof"),
        Row(error: .dpopProofReplayed, status: 401, code: "invalid_dpop_proof"),
        Row(error: .callerNotAllowed, status: 403, code: "caller_not_allowed"),
        Row(error: .scopeMissing(.mint), status: 403, code: "caller_not_allowed"),
        Row(
            error: .assertionRefused(.notGood(.claim(canary))), status: 400,
            code: "invalid_client_assertion"),
        Row(
            error: .assertionRefused(.unknownClient), status: 400, code: "invalid_client_assertion"),
        Row(error: .assertionUsed, status: 409, code: "already_used"),
        Row(error: .kindNotEnabled, status: 403, code: "token_not_enabled"),
        Row(error: .installBlocked, status: 403, code: "install_blocked"),
        Row(error: .unknownClient, status: 404, code: "unknown_client"),
        Row(error: .rateLimited(policy, waitMicroseconds: 1), status: 429, code: "rate_limited"),
        Row(
            error: .tooManyFailures(policy, waitMicroseconds: 1, cause: canary), status: 429,
            code: "rate_limited"),
        Row(
            error: .unavailable(.store(.refused(sqlState: canary))), status: 503,
            code: "unavailable"),
        Row(error: .unavailable(.key(canary)), status: 503, code: "unavailable"),
        Row(error: .unavailable(.unsettled), status: 503, code: "unavailable"),
        Row(error: .unavailable(.notReady), status: 503, code: "unavailable"),
        Row(error: .unavailable(.logStalled), status: 503, code: "unavailable"),
        Row(error: .unavailable(.randomness), status: 503, code: "unavailable"),
        Row(error: .notFound, status: 404, code: "not_found"),
        Row(error: .methodNotAllowed(allow: "POST"), status: 405, code: "method_not_allowed"),
        Row(error: .unsupportedMediaType, status: 415, code: "unsupported_media_type"),
    ]

    static let unauthenticated: [Row] = [
        CallerFault.missing, .malformed, .unknownToken, .revokedToken, .expiredToken,
        .noGate,
    ].map { Row(error: .callerUnauthenticated($0), status: 401, code: "caller_unauthenticated") }

    func fields(_ response: HTTPResponse, _ name: String) -> [String] {
        response.headers.filter { $0.name.lowercased() == name }.map(\.value)
    }

    @Test(arguments: rows + unauthenticated)
    func `each error has its status and code, and nothing of its cause`(row: Row) throws {
        let response = Problem(row.error).response(requestId: "abc")
        let body = try JSONValue(parsing: response.body)
        #expect(response.status == row.status)
        #expect(body["status"]?.integer == Int64(row.status))
        #expect(body["code"]?.string == row.code)
        #expect(body["request_id"]?.string == "abc")
        #expect(body["type"]?.string?.isEmpty == false)
        #expect(body["title"]?.string?.isEmpty == false)
        #expect(fields(response, "content-type") == ["application/problem+json"])
        #expect(fields(response, "cache-control") == ["no-store"])
        #expect(!String(decoding: response.body, as: UTF8.self).contains("canary"))
        #expect(!response.headers.contains { $0.value.contains("canary") })
        let isChallenged = row.status == 401 || row.error == .scopeMissing(.mint)
        #expect(fields(response, "www-authenticate").isEmpty == !isChallenged)
        #expect(fields(response, "retry-after").isEmpty == ![429, 503].contains(row.status))
        #expect(fields(response, "allow") == (row.status == 405 ? ["POST"] : []))
        #expect(fields(response, "accept") == (row.status == 415 ? ["application/json"] : []))
    }

    @Test func `all ways to be unauthenticated read the same`() {
        let bodies = Self.unauthenticated.map {
            Problem($0.error).response(requestId: "").body
        }
        #expect(bodies.count == 6)
        #expect(Set(bodies).count == 1)
    }

    @Test func `a 401 names what is accepted, with the DPoP error only where a proof is at fault`()
    {
        let plain = Problem(.callerUnauthenticated(.missing)).response(requestId: "")
        #expect(
            fields(plain, "www-authenticate") == [
                "DPoP algs=\"ES256 PS256\"", "Bearer realm=\"broker\"",
            ])
        let withCertificates = Problem(
            .callerUnauthenticated(.missing), takesCertificates: true
        ).response(requestId: "")
        #expect(
            fields(withCertificates, "www-authenticate") == [
                "DPoP algs=\"ES256 PS256\"", "Bearer realm=\"broker\"",
                "ClientCertificate realm=\"broker\"",
            ])
        let nonce = Problem(.useDpopNonce).response(requestId: "")
        #expect(
            fields(nonce, "www-authenticate") == [
                "DPoP error=\"use_dpop_nonce\", algs=\"ES256 PS256\""
            ])
        let bad = Problem(.invalidDpopProof(.time)).response(requestId: "")
        #expect(
            fields(bad, "www-authenticate") == [
                "DPoP error=\"invalid_dpop_proof\", algs=\"ES256 PS256\""
            ])
    }

    @Test func `a token without the scope is told which scope it needs (RFC 6750 §3.1)`() {
        let response = Problem(.scopeMissing(.consume)).response(requestId: "")
        #expect(
            fields(response, "www-authenticate") == [
                "Bearer realm=\"broker\", error=\"insufficient_scope\", scope=\"consume\""
            ])
    }

    @Test func `a call that takes tokens only does not ask for proofs`() {
        let problem = Problem(.callerUnauthenticated(.missing), takesProofs: false)
        #expect(
            fields(problem.response(requestId: ""), "www-authenticate")
                == ["Bearer realm=\"broker\""])
    }

    @Test func `every assertion that is not acceptable reads the same`() {
        let faults: [AssertionFault] = [
            .malformed(.malformed(.algorithm)), .unknownClient, .foreignClient,
            .notGood(.signature), .notGood(.expired), .blockedInstall,
        ]
        let bodies = faults.map { Problem(.assertionRefused($0)).response(requestId: "").body }
        #expect(Set(bodies).count == 1)
        #expect(Set(faults.map(\.cause)).count == faults.count, "the log tells them apart")
    }

    @Test(arguments: [
        (0, 1), (1, 1), (999_999, 1), (1_000_000, 1), (1_000_001, 2), (59_800_000, 60),
        (800_000, 1), (60_000_000, 60), (86_400_000_000, 86_400), (-5, 1), (-5_000_000, 1),
    ])
    func `Retry-After is rounded up and at least 1`(microseconds: Int64, seconds: Int64) throws {
        let error = BrokerError.rateLimited(Self.policy, waitMicroseconds: microseconds)
        let response = Problem(error).response(requestId: "")
        #expect(fields(response, "retry-after") == ["\(seconds)"])
    }

    @Test func `a 429 names the policy`() throws {
        let error = BrokerError.rateLimited(Self.policy, waitMicroseconds: 1)
        let body = try JSONValue(parsing: Problem(error).response(requestId: "").body)
        #expect(body["policy"]?.string == "install")
        #expect(body["violated-policies"]?.array?.compactMap(\.string) == ["install"])
        #expect(
            body["type"]?.string
                == "https://iana.org/assignments/http-problem-types#quota-exceeded")
    }

    @Test(arguments: HTTPRejection.allCases)
    func `a refused message keeps its status and has a code of its class`(
        _ rejection: HTTPRejection
    )
        throws
    {
        let problem = Problem(.http(status: rejection.status, reason: rejection.reason))
        let response = problem.response(requestId: "")
        #expect(response.status == rejection.status)
        #expect((problem.code == .badRequest) == (rejection.status == 400))
        #expect(problem.detail == rejection.reason)
        #expect(fields(response, "retry-after").isEmpty == (rejection.status != 503))
        #expect(fields(response, "allow").isEmpty == (rejection.status != 405))
    }

    @Test func `the cause is for the log`() {
        #expect(BrokerError.unavailable(.store(.timedOut)).cause?.contains("timedOut") == true)
        #expect(BrokerError.callerUnauthenticated(.revokedToken).cause == "revoked token")
        #expect(BrokerError.installBlocked.cause == nil)
    }
}
