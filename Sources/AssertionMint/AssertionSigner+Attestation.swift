public import JOSE

extension AssertionSigner {
    /// The `typ` of an attestation, by which no receiver takes it for an assertion.
    private static let attestationType = "oauth-client-attestation+jwt"

    /// The times an attestation made at `now` (seconds since 1970 UTC, rounded down) carries.
    public func times(now: Int64, of attestations: AttestationProfile) -> AssertionTimes {
        let issuedAt = now - profile.backdating
        return AssertionTimes(issuedAt: issuedAt, expiresAt: issuedAt + attestations.lifetime)
    }

    /// A signed client attestation (draft-ietf-oauth-attestation-based-client-auth-10): the install that holds `installKey` is
    /// one of this client's.
    ///
    /// It has neither `iss` nor `aud`, so that what takes client assertions can never take it for one; and it tells the broker
    /// nothing of the provider that it will be shown to.
    ///
    /// - Parameter jti: must be committed to the store before the attestation leaves the process. For the log: an attestation
    ///   is good until it expires, not once.
    public func attestation(
        of installKey: PublicJWK, jti: JTI, times: AssertionTimes
    ) throws(KeyError) -> Secret<String> {
        var header = JSONWriter()
        header.object {
            $0.member("alg", key.algorithm.rawValue)
            $0.member("kid", kid)
            $0.member("typ", Self.attestationType)
        }
        var claims = JSONWriter(capacity: 512)
        claims.object {
            $0.member("sub", clientId.rawValue)
            $0.member("jti", jti.rawValue)
            $0.member("iat", times.issuedAt)
            $0.member("exp", times.expiresAt)
            $0.name("cnf")
            $0.object {
                $0.name("jwk")
                installKey.write(to: &$0, asSigningKey: false)
            }
        }
        return Secret(
            try JWSBuilder.compact(header: header.bytes, payload: claims.bytes) {
                (input) throws(KeyError) in try key.sign(input)
            })
    }
}

/// What a client may choose about the attestations of its installs.
public struct AttestationProfile: Hashable, Sendable {
    /// Seconds from `iat` to `exp`, 30 to 300.
    public let lifetime: Int64

    /// The allowed lifetimes in seconds: more than any back-dating, and no more than the store keeps identifiers for.
    public static let lifetimes: ClosedRange<Int64> = 30...300

    /// `nil` when the lifetime is outside its range.
    public init?(lifetime: Int64 = 300) {
        guard Self.lifetimes.contains(lifetime) else { return nil }
        self.lifetime = lifetime
    }
}
