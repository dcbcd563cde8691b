import SocketServer

/// The one credential a request carries to authenticate its client, not yet checked.
struct ClientCredential: Sendable {
    /// The compact JWT.
    let assertion: String
    /// The `client_id` parameter, when there is one.
    let clientId: String?

    /// RFC 7523 §2.2.
    static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    /// Finds exactly one assertion.
    ///
    /// - Throws: `invalid_request` when the request carries several credentials (RFC 6749 §5.2), `invalid_client` when
    ///   it carries none that is accepted here (FAPI 2.0 §5.3.2.1).
    init(_ form: Form, _ headers: HTTPHeaders) throws(OAuthFault) {
        let hasHeader = headers.count("authorization") > 0
        let hasSecret = form["client_secret"] != nil
        let hasAssertion = form["client_assertion"] != nil || form["client_assertion_type"] != nil
        guard [hasHeader, hasSecret, hasAssertion].filter({ $0 }).count <= 1 else {
            throw .invalidRequest(.severalAuthenticationMethods)
        }
        if hasHeader { throw .invalidClient(.authorizationHeader) }
        if hasSecret { throw .invalidClient(.clientSecret) }
        guard hasAssertion else { throw .invalidClient(.noCredential) }
        guard form["client_assertion_type"] == Self.assertionType else {
            throw .invalidClient(.assertionType)
        }
        guard let assertion = form["client_assertion"] else { throw .invalidClient(.noCredential) }
        self.assertion = assertion
        clientId = form["client_id"]
    }
}
