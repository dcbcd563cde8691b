/// The stable `code` member of a problem, which callers decide on (`design.md` §3). `docs/openapi.json` lists the same ones.
enum ProblemCode: String, CaseIterable, Sendable {
    case invalidRequest = "invalid_request"
    case invalidAudience = "invalid_audience"
    case callerUnauthenticated = "caller_unauthenticated"
    case useDpopNonce = "use_dpop_nonce"
    case invalidDpopProof = "invalid_dpop_proof"
    case callerNotAllowed = "caller_not_allowed"
    case installBlocked = "install_blocked"
    case unknownClient = "unknown_client"
    case notFound = "not_found"
    case methodNotAllowed = "method_not_allowed"
    case unsupportedMediaType = "unsupported_media_type"
    case rateLimited = "rate_limited"
    case unavailable = "unavailable"

    // What the HTTP server itself refuses.
    case badRequest = "bad_request"
    case requestTimeout = "request_timeout"
    case contentTooLarge = "content_too_large"
    case uriTooLong = "uri_too_long"
    case expectationFailed = "expectation_failed"
    case misdirectedRequest = "misdirected_request"
    case headerFieldsTooLarge = "header_fields_too_large"
    case internalError = "internal_error"
    case notImplemented = "not_implemented"
    case httpVersionNotSupported = "http_version_not_supported"
}
