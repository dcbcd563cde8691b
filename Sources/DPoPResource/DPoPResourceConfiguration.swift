import JOSE

/// Whose tokens an API takes, and how exact clocks have to be.
public struct DPoPResourceConfiguration: Sendable, Equatable {
    /// The only `iss` that is accepted, compared octet by octet.
    public let issuer: String
    /// This API, as tokens name it in `aud`.
    public let audience: String
    /// Seconds a proof may be old.
    public let maximumProofAge: Int64
    /// Seconds that `iat` and `nbf`, of a token and of a proof, may lie ahead of this clock.
    public let maximumAhead: Int64
    /// Seconds a token is taken after its `exp`.
    public let expiryLeeway: Int64

    /// - Parameters:
    ///   - maximumProofAge: 1 to 300; each proof is remembered that long.
    ///   - maximumAhead: 10 to 60: so much must be accepted, and more must not (FAPI 2.0 §5.3.2.1).
    ///   - expiryLeeway: 0 to 60.
    public init(
        issuer: String, audience: String, maximumProofAge: Int64 = 60, maximumAhead: Int64 = 10,
        expiryLeeway: Int64 = 0
    ) throws(DPoPResourceConfigurationError) {
        guard HTTPTargetURI(issuer) != nil, !issuer.contains("?"), !issuer.contains("#") else {
            throw .issuer
        }
        guard !audience.isEmpty else { throw .audience }
        guard (1...300).contains(maximumProofAge) else { throw .maximumProofAge }
        guard (10...60).contains(maximumAhead) else { throw .maximumAhead }
        guard (0...60).contains(expiryLeeway) else { throw .expiryLeeway }
        self.issuer = issuer
        self.audience = audience
        self.maximumProofAge = maximumProofAge
        self.maximumAhead = maximumAhead
        self.expiryLeeway = expiryLeeway
    }
}

/// The setting that cannot be used.
public enum DPoPResourceConfigurationError: Error, Equatable, Sendable {
    /// No `http` or `https` URL without query and fragment (RFC 8414 §2).
    case issuer
    /// Empty.
    case audience
    /// Outside 1 to 300 seconds.
    case maximumProofAge
    /// Outside 10 to 60 seconds.
    case maximumAhead
    /// Outside 0 to 60 seconds.
    case expiryLeeway
}
