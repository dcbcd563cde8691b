public import JOSE

/// Checks the assertions of one client as a strict server does (RFC 7523 §3, FAPI 2.0 §5.3.2.1), all but one thing: that the
/// `jti` was not used before, which needs a memory.
///
/// It accepts what `AssertionSigner` makes for that client and its profile, and nothing looser.
public struct ClientAssertionVerifier: Sendable {
    /// The client whose assertions these are.
    public let clientId: ClientId
    private let issuers: [Issuer]
    private let profile: AssertionProfile
    private let keys: [PublicJWK]

    /// Seconds `iat` may lie ahead of the clock: 10 must be accepted, 60 must not be passed (FAPI 2.0 §5.3.2.1 item 13). The
    /// clocks of two brokers may each be 30 seconds off the database's.
    public static let maximumAhead: Int64 = 60

    /// - Parameters:
    ///   - issuers: what `aud` may be.
    ///   - keys: the client's published keys, each with its `kid`.
    public init(
        clientId: ClientId, issuers: [Issuer], profile: AssertionProfile, keys: [PublicJWK]
    ) {
        self.clientId = clientId
        self.issuers = issuers
        self.profile = profile
        self.keys = keys
    }

    /// What a good assertion says.
    ///
    /// The signature, the dear part, is checked last.
    ///
    /// - Parameters:
    ///   - audience: the only `aud` to accept; `nil` for any of the client's issuers.
    ///   - now: seconds since 1970 UTC.
    ///   - key: gives the verification key of a JWK, from a cache where there is one.
    public func verify(
        _ assertion: ClientAssertion, audience: String?, now: Int64,
        key: (PublicJWK) throws(JWKError) -> PublicKey = { (jwk) throws(JWKError) in
            try PublicKey(jwk)
        }
    ) throws(ClientAssertionError) -> VerifiedClientAssertion {
        let (jws, claims) = (assertion.jws, assertion.claims)
        guard assertion.clientId == clientId else { throw .client }
        guard hasOwnType(jws) else { throw .type }
        let issuer = try self.issuer(claims, wanted: audience)
        let times = try self.times(claims, now: now)
        guard let jti = claims["jti"]?.string.flatMap(JTI.init) else { throw .claim("jti") }
        let dpopJkt = try Self.dpopJkt(claims)
        guard let kid = jws.kid, let jwk = keys.first(where: { $0.hasKid(kid) }) else {
            throw .unknownKey
        }
        let publicKey: PublicKey
        do { publicKey = try key(jwk) } catch { throw .key(error) }
        guard jws.isSigned(by: publicKey) else { throw .signature }
        return VerifiedClientAssertion(
            clientId: clientId, kid: kid, algorithm: jws.algorithm, jti: jti, audience: issuer,
            times: times, dpopJkt: dpopJkt)
    }

    /// A type of its own keeps tokens made for another purpose out (RFC 8725 §3.11), so it must be the client's.
    private func hasOwnType(_ jws: CompactJWS) -> Bool {
        profile.type == .none ? jws.type == nil : jws.hasType(profile.type.rawValue)
    }

    /// `aud` must be one string, an issuer octet by octet; an array is refused even with one element.
    private func issuer(
        _ claims: JSONValue, wanted: String?
    ) throws(ClientAssertionError) -> Issuer {
        guard let text = claims["aud"]?.string,
            let issuer = issuers.first(where: { $0.rawValue.utf8.elementsEqual(text.utf8) }),
            wanted?.utf8.elementsEqual(text.utf8) ?? true
        else { throw .audience }
        return issuer
    }

    private func times(
        _ claims: JSONValue, now: Int64
    ) throws(ClientAssertionError) -> AssertionTimes {
        guard let expiresAt = claims["exp"]?.second else { throw .claim("exp") }
        guard let issuedAt = claims["iat"]?.second, issuedAt < expiresAt else {
            throw .claim("iat")
        }
        guard expiresAt > now else { throw .expired }
        guard issuedAt - now <= Self.maximumAhead else { throw .notYetValid }
        guard expiresAt - issuedAt <= profile.lifetime else { throw .tooLongLived }
        if let value = claims["nbf"] {
            guard let notBefore = value.second else { throw .claim("nbf") }
            guard notBefore - now <= Self.maximumAhead else { throw .notYetValid }
        }
        return AssertionTimes(issuedAt: issuedAt, expiresAt: expiresAt)
    }

    /// `cnf.jkt`, when the assertion is bound to an install's key (RFC 7800 §3.1).
    private static func dpopJkt(_ claims: JSONValue) throws(ClientAssertionError) -> DpopJkt? {
        guard let confirmation = claims["cnf"] else { return nil }
        guard let jkt = confirmation["jkt"]?.string.flatMap(DpopJkt.init) else {
            throw .claim("cnf")
        }
        return jkt
    }
}

/// What a good assertion says; its `jti` is not yet known to be unused.
public struct VerifiedClientAssertion: Sendable, Equatable {
    /// The client it speaks for.
    public let clientId: ClientId
    /// The key that signed it.
    public let kid: String
    /// The signature's algorithm.
    public let algorithm: JWSAlgorithm
    /// Its identifier.
    public let jti: JTI
    /// The provider it is for.
    public let audience: Issuer
    /// When it was made and when it ends.
    public let times: AssertionTimes
    /// The install it is bound to, when it names one.
    public let dpopJkt: DpopJkt?

    /// What a memory of used assertions keeps: SHA-256 over client and `jti`, 32 octets. A `jti` is a client's own
    /// (RFC 7519 §4.1.7), so no client can use up another's.
    public var replayHash: [UInt8] {
        SHA256.hash("\(clientId.rawValue) \(jti.rawValue)".utf8)
    }
}

extension PublicJWK {
    /// Octet by octet: two spellings that look alike name two keys (RFC 7515 §4.1.4).
    fileprivate func hasKid(_ kid: String) -> Bool {
        self.kid?.utf8.elementsEqual(kid.utf8) ?? false
    }
}

extension JSONValue {
    /// The value as whole seconds since 1970 UTC. Fractions and exponents are legal in a NumericDate (RFC 7519 §2), and no
    /// assertion of ours has them. Up to 2^53, so that differences never overflow.
    fileprivate var second: Int64? {
        integer.flatMap { (0...1 << 53).contains($0) ? $0 : nil }
    }
}
