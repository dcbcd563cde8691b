public import JOSE

/// Signs client assertions for one client with one key (RFC 7523 §3, FAPI 2.0 §5.3.3.1), and attestations of its installs.
public struct AssertionSigner: Sendable {
    /// The client the assertions speak for.
    public let clientId: ClientId
    /// The key id in the header.
    public let kid: String
    /// How the assertions look.
    public let profile: AssertionProfile
    let key: PrivateKey
    /// The header never changes, so it is encoded once.
    private let encodedHeader: [UInt8]

    /// A signer whose header names `kid`.
    public init(clientId: ClientId, key: PrivateKey, kid: String, profile: AssertionProfile) {
        self.clientId = clientId
        self.key = key
        self.kid = kid
        self.profile = profile
        var header = JSONWriter()
        header.object {
            $0.member("alg", key.algorithm.rawValue)
            $0.member("kid", kid)
            if profile.type != .none { $0.member("typ", profile.type.rawValue) }
        }
        var encoded: [UInt8] = []
        Base64URL.append(header.bytes, to: &encoded)
        encodedHeader = encoded
    }

    /// The algorithm in the header.
    public var algorithm: JWSAlgorithm { key.algorithm }

    /// The times an assertion minted at `now` (seconds since 1970 UTC, rounded down) carries.
    public func times(now: Int64) -> AssertionTimes {
        let issuedAt = now - profile.backdating
        return AssertionTimes(issuedAt: issuedAt, expiresAt: issuedAt + profile.lifetime)
    }

    /// The signed assertion.
    ///
    /// - Parameters:
    ///   - audience: the issuer; becomes `aud` as a string, never an array.
    ///   - dpopJkt: the install; becomes `cnf.jkt` when the profile binds it.
    ///   - jti: must be committed to the store before the assertion leaves the process.
    public func assertion(
        audience: Issuer, dpopJkt: DpopJkt, jti: JTI, times: AssertionTimes
    ) throws(KeyError) -> Secret<String> {
        var claims = JSONWriter(capacity: 320)
        claims.object {
            $0.member("iss", clientId.rawValue)
            $0.member("sub", clientId.rawValue)
            $0.member("aud", audience.rawValue)
            $0.member("jti", jti.rawValue)
            $0.member("iat", times.issuedAt)
            $0.member("exp", times.expiresAt)
            guard profile.bindsInstall else { return }
            $0.name("cnf")
            $0.object { $0.member("jkt", dpopJkt.rawValue) }
        }
        return Secret(
            try JWSBuilder.compact(encodedHeader: encodedHeader, payload: claims.bytes) {
                (input) throws(KeyError) in try key.sign(input)
            })
    }
}

/// When an assertion, or another token, was made and when it ends, in seconds since 1970 UTC.
public struct AssertionTimes: Hashable, Sendable {
    /// `iat`.
    public let issuedAt: Int64
    /// `exp`.
    public let expiresAt: Int64
}
