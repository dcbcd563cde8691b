import JOSE

/// Why a protocol request is refused. What the caller reads of it stands in `HTTPResponse+OAuthFault`; the causes
/// inside are for the log alone, and no case holds a value that a peer sent.
enum OAuthFault: Error, Equatable, Sendable {
    /// `invalid_request`.
    case invalidRequest(RequestFault)
    /// `invalid_client`: the client did not authenticate.
    case invalidClient(ClientFault)
    /// `invalid_dpop_proof`.
    case invalidDPoPProof(ProofFault)
    /// `use_dpop_nonce`: the proof needs this server's newest nonce.
    case useDPoPNonce
    /// `invalid_grant`: code or refresh token cannot be used by this caller now.
    case invalidGrant(GrantFault)
    /// `invalid_scope`.
    case invalidScope
    /// `invalid_target`: a `resource` this client may not name (RFC 8707 §2).
    case invalidTarget
    /// `unsupported_grant_type`.
    case unsupportedGrantType
    /// `unsupported_response_type`.
    case unsupportedResponseType
    /// `invalid_session`: `auth_session` leads nowhere.
    case invalidSession(SessionFault)
    /// One of the preconditions of first-party sign-in does not hold (R-000-07).
    case notAllowed(Precondition)
    /// `signature_rejected`: a device request that is not acceptable.
    case deviceRequest(DeviceRequestFault)
    /// `ceremony_unavailable`: this ceremony can never complete for this caller (R-000-14).
    case ceremonyUnavailable
    /// `device_key_revoked`: the enrolled key was revoked.
    case deviceKeyRevoked
    /// `device_key_replaced`: another device's key took the enrolled one's place (R-004-46).
    case deviceKeyReplaced
    /// `access_denied`: the user may not use this application.
    case accessDenied
    /// `redirect_to_web`: this application's users must sign in in a browser (first-party draft §5.2.2, R-000-16).
    case redirectToWeb
    /// `attestation_rejected`: no good evidence for a genuine app where the tenant demands it (R-000-08).
    case attestationRejected(AttestationFault)
    /// A limit is spent.
    case rateLimited(RateLimit, retryAfter: Int64)
    /// The client's keys cannot be had now.
    case keysUnavailable
    /// This server could not do its own part, such as drawing randomness or signing.
    case serverError
    /// No such path.
    case notFound
    /// The path does not take this method.
    case methodNotAllowed(allowed: String)
    /// The body is not of the type the path takes.
    case unsupportedMediaType(expected: String)
}

/// What is wrong with the form of a request.
enum RequestFault: Error, Equatable, Sendable {
    case malformedForm
    case repeatedParameter
    case parametersInQuery
    case severalAuthenticationMethods
    case malformedJSON
    /// A parameter or member is missing; the name is ours.
    case missing(String)
    /// A parameter or member has the wrong form; the name is ours.
    case malformed(String)
}

/// Why a client did not authenticate.
enum ClientFault: Error, Equatable, Sendable {
    case noCredential
    /// Basic or another scheme of the `Authorization` header, which answers 401 (RFC 6749 §5.2).
    case authorizationHeader
    case clientSecret
    case assertionType
    case malformedAssertion(JWSError)
    case tokenType
    case claim(String)
    case clientIdMismatch
    case unknownClient
    case noSuchKey
    case signature
    case audience
    case expired
    case tooLongLived
    case notYetValid
    case reused
    case boundToAnotherKey
}

/// Why a DPoP proof is refused, nonces aside.
enum ProofFault: Error, Equatable, Sendable {
    case missing
    case several
    case rejected(DPoPError)
    case reused
    /// Made by another key than the one the session began with (R-000-13).
    case anotherKey
}

/// Why a code or a refresh token cannot be used.
enum GrantFault: Error, Equatable, Sendable {
    case unknown
    case expired
    case used
    case superseded
    case revoked
    case anotherClient
    case anotherKey
    case verifier
    case redirectURI
    case resource
}

/// Why an `auth_session` leads nowhere.
enum SessionFault: Error, Equatable, Sendable {
    case unknown
    case expired
    case anotherClient
    case ended
    case replacementCodesSpent
}
