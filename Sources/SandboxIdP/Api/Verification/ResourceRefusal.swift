import JOSE

/// Why an API does not serve a request, and what the caller is told (RFC 6750 §3, RFC 9449 §7.1, §9).
enum ResourceRefusal: Error, Equatable, Sendable {
    /// No credentials, or of a scheme that is not known here.
    case noCredentials
    /// Several credentials, or one in the query or of a form no client makes.
    case malformedRequest
    case invalidToken(TokenFault)
    /// The proof is missing, doubled or used before (`nil`), or fails a check.
    case invalidProof(DPoPError?)
    /// The proof needs this API's newest nonce.
    case useNonce
    case insufficientScope(String)

    /// The status of the answer.
    var status: Int {
        switch self {
        case .malformedRequest: 400
        case .insufficientScope: 403
        case .noCredentials, .invalidToken, .invalidProof, .useNonce: 401
        }
    }

    /// The error code; a request without credentials gets none.
    var code: String? {
        switch self {
        case .noCredentials: nil
        case .malformedRequest: "invalid_request"
        case .invalidToken: "invalid_token"
        case .invalidProof: "invalid_dpop_proof"
        case .useNonce: "use_dpop_nonce"
        case .insufficientScope: "insufficient_scope"
        }
    }

    /// The value of `WWW-Authenticate`.
    var challenge: String {
        let algorithms = JWSAlgorithm.allCases.map(\.rawValue).joined(separator: " ")
        var parameters = code.map { ["error=\"\($0)\""] } ?? []
        if case .insufficientScope(let scope) = self { parameters.append("scope=\"\(scope)\"") }
        parameters.append("algs=\"\(algorithms)\"")
        return "DPoP " + parameters.joined(separator: ", ")
    }
}
