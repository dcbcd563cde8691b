public import JOSE

/// A client assertion taken apart strictly (RFC 7515, RFC 7519); nothing in it is trusted before a
/// `ClientAssertionVerifier` of the client it names has accepted it.
public struct ClientAssertion: Sendable {
    /// The client it says it speaks for: `iss` and `sub`, which are the same.
    public let clientId: ClientId
    let jws: CompactJWS
    let claims: JSONValue

    /// Takes `text` apart.
    ///
    /// - Throws: `ClientAssertionError`: `malformed` for what is no strict compact JWS of an accepted algorithm or brings
    ///   its own key, `claim` when `iss` and `sub` do not name one possible client.
    public init(parsing text: String) throws(ClientAssertionError) {
        do {
            jws = try CompactJWS(parsing: text.utf8)
            try jws.refuseEmbeddedKeys()
            claims = try jws.claims()
        } catch { throw .malformed(error) }
        guard let issuer = claims["iss"]?.string.flatMap(ClientId.init) else { throw .claim("iss") }
        // Both are ASCII, so equal texts have equal octets.
        guard claims["sub"]?.string.flatMap(ClientId.init) == issuer else { throw .claim("sub") }
        clientId = issuer
    }
}

/// Why a client assertion is not acceptable. For the log: a caller gets one answer for all.
public enum ClientAssertionError: Error, Equatable, Sendable {
    /// No strict compact JWS of an accepted algorithm, or one that brings its own key.
    case malformed(JWSError)
    /// It names another client than the one it is checked for.
    case client
    /// `typ` is not the client's.
    case type
    /// A claim that is missing or of the wrong form.
    case claim(String)
    /// `aud` is not exactly one of the client's issuers, or not the one that was asked for.
    case audience
    /// `exp` is not in the future.
    case expired
    /// `iat` or `nbf` lies too far ahead.
    case notYetValid
    /// `exp` lies further behind `iat` than the client's lifetime.
    case tooLongLived
    /// `kid` is missing, or names no published key of the client's.
    case unknownKey
    /// The key that `kid` names cannot be used.
    case key(JWKError)
    /// The signature is not by the key that `kid` names, or `alg` is not that key's.
    case signature
}
