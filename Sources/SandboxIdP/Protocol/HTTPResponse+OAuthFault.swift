import JOSE
import SocketServer

extension HTTPResponse {
    /// A JSON answer nobody may cache.
    static func json(
        _ status: Int, headers: [(name: String, value: String)] = [],
        _ write: (inout JSONWriter) -> Void
    ) -> HTTPResponse {
        var json = JSONWriter()
        json.object(write)
        return HTTPResponse(
            status: status,
            headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
                + headers,
            body: json.bytes)
    }

    /// What a refused caller reads: a code and a fixed sentence, the same for every cause of one code (RFC 6749 §5.2).
    init(_ fault: OAuthFault) {
        let answer = OAuthErrorAnswer(fault)
        self = .json(answer.status, headers: answer.headers) {
            $0.member("error", answer.code)
            $0.member("error_description", answer.description)
        }
    }
}

/// Status, code and sentence of a refusal. The only place that decides them.
private struct OAuthErrorAnswer {
    let status: Int
    let code: String
    let description: String
    var headers: [(name: String, value: String)] = []

    init(_ status: Int, _ code: String, _ description: String) {
        self.status = status
        self.code = code
        self.description = description
    }

    init(_ fault: OAuthFault) {
        switch fault {
        case .invalidRequest(let cause):
            self.init(400, "invalid_request", Self.sentence(cause))
        case .invalidClient(.authorizationHeader):
            self.init(401, "invalid_client", Self.clientSentence)
            // RFC 6749 §5.2: a client that used the header is answered with a challenge of its scheme.
            headers = [("WWW-Authenticate", "Basic realm=\"client authentication\"")]
        case .invalidClient:
            self.init(400, "invalid_client", Self.clientSentence)
        case .invalidDPoPProof:
            self.init(400, "invalid_dpop_proof", "The DPoP proof was not accepted.")
        case .useDPoPNonce:
            self.init(400, "use_dpop_nonce", "The DPoP proof needs this server's nonce.")
        case .invalidGrant:
            self.init(400, "invalid_grant", "The grant is not valid.")
        case .invalidScope:
            self.init(400, "invalid_scope", "A requested scope is not allowed.")
        case .invalidTarget:
            self.init(400, "invalid_target", "The requested resource is not allowed.")
        case .unsupportedGrantType:
            self.init(400, "unsupported_grant_type", "The grant type is not supported.")
        case .unsupportedResponseType:
            self.init(400, "unsupported_response_type", "The response type must be code.")
        case .invalidSession:
            self.init(400, "invalid_session", "The session is not valid.")
        case .notAllowed(let precondition):
            self.init(400, precondition.rawValue, "The application is not set up for this.")
        case .deviceRequest:
            self.init(400, "signature_rejected", "The device request was not accepted.")
        case .ceremonyUnavailable:
            self.init(404, "ceremony_unavailable", "The ceremony is not available.")
        case .deviceKeyRevoked:
            self.init(403, "device_key_revoked", "The device's key was revoked.")
        case .deviceKeyReplaced:
            self.init(403, "device_key_replaced", "Another device's key took this one's place.")
        case .accessDenied:
            self.init(403, "access_denied", "The user may not use this application.")
        case .redirectToWeb:
            self.init(400, "redirect_to_web", "The application signs in in a browser.")
        case .attestationRejected:
            self.init(400, "attestation_rejected", "The evidence for the app was not accepted.")
        case .rateLimited(_, let seconds):
            self.init(429, "temporarily_unavailable", "Too many requests.")
            headers = [("Retry-After", String(seconds))]
        case .keysUnavailable:
            self.init(503, "temporarily_unavailable", "The client's keys cannot be fetched.")
            headers = [("Retry-After", "1")]
        case .serverError:
            self.init(500, "server_error", "The server failed.")
        case .notFound:
            self.init(404, "not_found", "There is nothing here.")
        case .methodNotAllowed(let allowed):
            self.init(405, "invalid_request", "The method is not allowed here.")
            headers = [("Allow", allowed)]
        case .unsupportedMediaType(let expected):
            self.init(415, "invalid_request", "The content type must be \(expected).")
        }
    }

    private static let clientSentence = "Client authentication failed."

    private static func sentence(_ cause: RequestFault) -> String {
        switch cause {
        case .malformedForm: "The form is malformed."
        case .repeatedParameter: "A parameter is repeated."
        case .parametersInQuery: "Parameters belong in the body."
        case .severalAuthenticationMethods: "There is more than one client authentication."
        case .malformedJSON: "The body is not a JSON object."
        case .missing(let name): "The parameter \(name) is missing."
        case .malformed(let name): "The parameter \(name) is malformed."
        }
    }
}
