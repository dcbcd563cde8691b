/// Which assertion is wanted.
public struct ClientAssertionRequest: Sendable, Equatable {
    /// The client that authenticates.
    public let clientId: String
    /// The issuer identifier, always as one string and never an endpoint URL (R-101-07).
    public let audience: String
    /// This install's DPoP key thumbprint (RFC 7638), 43 base64url characters.
    public let dpopJkt: String

    /// A request as the SDK makes it.
    public init(clientId: String, audience: String, dpopJkt: String) {
        self.clientId = clientId
        self.audience = audience
        self.dpopJkt = dpopJkt
    }
}

/// Fetches client assertions for a confidential client, one for each HTTP attempt.
public protocol ClientAssertionProvider: Sendable {
    /// A fresh assertion as a compact JWS. Called on an SDK worker thread, so it may block; a call that
    /// takes more than 20 seconds counts as unavailable (R-101-03, R-101-04).
    ///
    /// Any error is handled as a lost request; throw `ClientAssertionError.Unavailable` to say why.
    func clientAssertion(request: ClientAssertionRequest) throws -> String
}

/// Why a provider has no assertion.
public enum ClientAssertionError: Error, Equatable {
    /// None to be had now. `details` is developer text, never shown to a user or sent anywhere (R-101-06).
    case Unavailable(details: String)
}
