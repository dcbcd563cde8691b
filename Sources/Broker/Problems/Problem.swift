import JOSE
import SocketServer

/// What a caller reads when a request fails: RFC 9457 members with a stable `code`, made in this one place.
///
/// The sentences are fixed: no text from a request, the database or OpenSSL reaches a caller.
struct Problem: Sendable {
    let status: Int
    let code: ProblemCode
    let title: String
    let detail: String
    var type = "about:blank"
    var policy: String?
    var headers: [(name: String, value: String)] = []

    private init(_ status: Int, _ code: ProblemCode, _ title: String, _ detail: String) {
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
    }

    /// One branch for every case, and no default: a new case does not compile until someone decides its answer.
    ///
    /// - Parameters:
    ///   - takesProofs: whether the call takes DPoP proofs; a 401 then names them.
    ///   - takesCertificates: whether this server asks for client certificates, and the call takes them; a 401 then names them.
    init(_ error: BrokerError, takesProofs: Bool = true, takesCertificates: Bool = false) {
        switch error {
        case .malformedRequest(let what):
            self.init(
                400, .invalidRequest, "Invalid request", "The request is not acceptable: \(what)."
            )
        case .audienceNotAllowed:
            self.init(
                400, .invalidAudience, "Invalid audience",
                "The audience must be exactly one of the client's issuers, as a string.")
        case .kindNotEnabled:
            self.init(
                403, .tokenNotEnabled, "Token not enabled",
                "The client is not declared to have tokens of this kind.")
        case .callerUnauthenticated:
            self.init(
                401, .callerUnauthenticated, "Caller not authenticated",
                "The request carries no credential that is accepted here.")
            if takesProofs { challenge(error: nil) }
            headers.append(("WWW-Authenticate", "Bearer realm=\"broker\""))
            // No scheme is registered for certificates (RFC 8705 has none): this one is only for people to read.
            if takesCertificates {
                headers.append(("WWW-Authenticate", "ClientCertificate realm=\"broker\""))
            }
        case .useDpopNonce:
            self.init(
                401, .useDpopNonce, "DPoP nonce required",
                "Repeat with the nonce of the DPoP-Nonce field.")
            challenge(error: "use_dpop_nonce")
        case .invalidDpopProof, .dpopProofReplayed:
            self.init(
                401, .invalidDpopProof, "Invalid DPoP proof", "The DPoP proof is not acceptable."
            )
            challenge(error: "invalid_dpop_proof")
        case .callerNotAllowed:
            self.init(
                403, .callerNotAllowed, "Caller not allowed",
                "The credential is good, but not for this client.")
        case .scopeMissing(let scope):
            self.init(
                403, .callerNotAllowed, "Caller not allowed",
                "The token is good, but its scope does not cover this call.")
            // RFC 6750 §3.1.
            headers.append(
                (
                    "WWW-Authenticate",
                    "Bearer realm=\"broker\", error=\"insufficient_scope\", scope=\"\(scope.rawValue)\""
                ))
        case .installBlocked:
            self.init(
                403, .installBlocked, "Install blocked", "This install may not obtain tokens."
            )
        case .unknownClient:
            self.init(404, .unknownClient, "Unknown client", "There is no such client.")
        case .assertionRefused:
            self.init(
                400, .invalidClientAssertion, "Invalid client assertion",
                "The client assertion is not acceptable.")
        case .assertionUsed:
            self.init(
                409, .alreadyUsed, "Already used", "The client assertion was used before.")
        case .rateLimited(let policy, let wait), .tooManyFailures(let policy, let wait, _):
            self.init(
                429, .rateLimited, "Too many requests",
                "A rate limit was reached; wait before the next try.")
            type = "https://iana.org/assignments/http-problem-types#quota-exceeded"
            self.policy = policy.name
            headers.append(("Retry-After", String(Self.wholeSeconds(wait))))
        case .unavailable:
            self.init(
                503, .unavailable, "Temporarily unavailable",
                "Nothing can be issued or accepted at the moment.")
            type = "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
            headers.append(("Retry-After", "1"))
        case .notFound: self.init(404, .notFound, "Not found", "There is nothing at this path.")
        case .methodNotAllowed(let allow):
            self.init(
                405, .methodNotAllowed, "Method not allowed",
                "The path does not have this method.")
            headers.append(("Allow", allow))
        case .unsupportedMediaType:
            self.init(
                415, .unsupportedMediaType, "Unsupported media type",
                "The body must be application/json without a content coding.")
            headers.append(("Accept", "application/json"))
        case .http(let status, let reason):
            let (code, title) = Self.http(status)
            self.init(status, code, title, reason)
            if status == 405 { headers.append(("Allow", "GET, HEAD, POST")) }
            if status == 503 { headers.append(("Retry-After", "1")) }
        }
    }

    /// The seconds of `Retry-After`, where there is one.
    var retryAfter: Int64? {
        headers.first { $0.name == "Retry-After" }.flatMap { Int64($0.value) }
    }

    /// The answer; `requestId` lets a caller's report be found in the log.
    func response(requestId: String) -> HTTPResponse {
        var json = JSONWriter()
        json.object {
            $0.member("type", type)
            $0.member("title", title)
            $0.member("status", status)
            $0.member("detail", detail)
            $0.member("code", code.rawValue)
            $0.member("request_id", requestId)
            guard let policy else { return }
            $0.member("policy", policy)
            $0.name("violated-policies")
            $0.array { $0.string(policy) }
        }
        return HTTPResponse(
            status: status,
            headers: [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store")]
                + headers,
            body: json.bytes)
    }

    /// Microseconds as the whole seconds of `Retry-After` (RFC 9110 §10.2.3): rounded up, so that a client which waits
    /// exactly that long is never too early, and at least 1.
    static func wholeSeconds(_ microseconds: Int64) -> Int64 {
        max(1, (microseconds + 999_999) / 1_000_000)
    }

    /// RFC 9110 §11.6.1 and RFC 9449 §7.1: each accepted scheme, and the DPoP error where the proof is at fault.
    private mutating func challenge(error: String?) {
        let dpop = "DPoP \(error.map { "error=\"\($0)\", " } ?? "")algs=\"ES256 PS256\""
        headers.append(("WWW-Authenticate", dpop))
    }

    /// The code and title of an answer the HTTP server itself decided on.
    private static func http(_ status: Int) -> (code: ProblemCode, title: String) {
        switch status {
        case 405: (.methodNotAllowed, "Method not allowed")
        case 408: (.requestTimeout, "Request timeout")
        case 413: (.contentTooLarge, "Content too large")
        case 414: (.uriTooLong, "URI too long")
        case 417: (.expectationFailed, "Expectation failed")
        case 421: (.misdirectedRequest, "Misdirected request")
        case 431: (.headerFieldsTooLarge, "Request header fields too large")
        case 500: (.internalError, "Internal error")
        case 501: (.notImplemented, "Not implemented")
        case 503: (.unavailable, "Temporarily unavailable")
        case 505: (.httpVersionNotSupported, "HTTP version not supported")
        default: (.badRequest, "Bad request")
        }
    }
}
