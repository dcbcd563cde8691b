public import JOSE

/// Why an API does not serve a request. Causes are for its own log.
public enum ResourceRefusal: Error, Equatable, Sendable {
    /// No credentials, or of a scheme that is not known here.
    case noCredentials
    /// Several credentials, or one in the query or of a form no client makes.
    case malformedRequest
    /// The access token is not good for this request.
    case invalidToken(TokenFault)
    /// The proof is not good for this request.
    case invalidProof(ProofFault)
    /// The proof needs this API's newest nonce (R-000-82).
    case useNonce
    /// The token is good but lacks this scope token.
    case insufficientScope(String)
    /// Nobody can say now whether the request may be served.
    case unavailable(UnavailablePart)

    init(_ error: DPoPError) {
        self = error == .useNonce ? .useNonce : .invalidProof(.rejected(error))
    }

    /// The status of the answer.
    public var status: Int {
        switch self {
        case .malformedRequest: 400
        case .noCredentials, .invalidToken, .invalidProof, .useNonce: 401
        case .insufficientScope: 403
        case .unavailable: 503
        }
    }

    /// The `error` of the challenge (RFC 6750 §3.1, RFC 9449 §7.1, §9); a request without credentials gets none.
    public var code: String? {
        switch self {
        case .noCredentials, .unavailable: nil
        case .malformedRequest: "invalid_request"
        case .invalidToken: "invalid_token"
        case .invalidProof: "invalid_dpop_proof"
        case .useNonce: "use_dpop_nonce"
        case .insufficientScope: "insufficient_scope"
        }
    }
}

/// What is wrong with a proof.
public enum ProofFault: Error, Equatable, Sendable {
    /// There is none.
    case missing
    /// There is more than one.
    case several
    /// It fails one of the checks of RFC 9449 §4.3.
    case rejected(DPoPError)
    /// It was used before.
    case used
}

/// What an answer needs and is not to be had.
public enum UnavailablePart: Equatable, Sendable {
    /// The issuer's keys were never fetched.
    case keys(JWKSFault)
    /// The memory of used proofs.
    case proofMemory
}

/// The answer to a refused request, without a body: the header says all there is.
public struct RefusalAnswer: Sendable {
    /// The HTTP status.
    public let status: Int
    /// `WWW-Authenticate`, `DPoP-Nonce`, `Retry-After`, `Cache-Control`, as far as they belong to it.
    public let headers: [(name: String, value: String)]

    init(_ refusal: ResourceRefusal, nonce: String?) {
        status = refusal.status
        var headers = [(name: "Cache-Control", value: "no-store")]
        if case .unavailable = refusal {
            headers.append(("Retry-After", "1"))
        } else {
            headers.append(("WWW-Authenticate", Self.challenge(refusal)))
        }
        if let nonce { headers.append(("DPoP-Nonce", nonce)) }
        self.headers = headers
    }

    /// RFC 9449 §7.1; the value of `scope` is limited to the characters of RFC 6749 §3.3.
    private static func challenge(_ refusal: ResourceRefusal) -> String {
        var parameters = refusal.code.map { ["error=\"\($0)\""] } ?? []
        if case .insufficientScope(let scope) = refusal {
            let allowed = scope.utf8.filter { $0 > 0x20 && $0 < 0x7f && $0 != 0x22 && $0 != 0x5c }
            parameters.append("scope=\"\(String(decoding: allowed, as: UTF8.self))\"")
        }
        let algorithms = JWSAlgorithm.allCases.map(\.rawValue).joined(separator: " ")
        parameters.append("algs=\"\(algorithms)\"")
        return "DPoP " + parameters.joined(separator: ", ")
    }
}
