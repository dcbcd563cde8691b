/// What a client's backend or install may ask for. The same callers, gates, limits, store and log serve every kind; each has a
/// path of its own, so a proof for one is none for another.
enum TokenKind: String, Sendable, CaseIterable {
    /// RFC 7523: the client authenticates to its identity provider.
    case clientAssertion = "client_assertion"
    /// `flows.md` R-003-01: a call may reach the organisation's API.
    case transportToken = "transport_token"
    /// draft-ietf-oauth-attestation-based-client-auth: an install is one of the client's.
    case clientAttestation = "client_attestation"
}
