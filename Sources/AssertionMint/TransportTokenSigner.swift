public import JOSE

/// Signs transport tokens: the JWT `t` that lets an app's calls reach an organisation's API, and proves nobody's identity
/// (`flows.md` R-003-01, R-003-02). HS256 with the organisation's API client secret.
public struct TransportTokenSigner: Sendable {
    /// What every token says.
    public let profile: TransportTokenProfile
    private let secret: SharedSecret
    /// The header never changes, so it is encoded once.
    private static let encodedHeader = {
        var header = JSONWriter()
        header.object {
            $0.member("alg", SharedSecret.algorithm)
            $0.member("typ", "JWT")
        }
        var encoded: [UInt8] = []
        Base64URL.append(header.bytes, to: &encoded)
        return encoded
    }()

    /// A signer with the organisation's secret.
    public init(secret: SharedSecret, profile: TransportTokenProfile) {
        self.secret = secret
        self.profile = profile
    }

    /// The times a token made at `now` (seconds since 1970 UTC, rounded down) carries.
    public func times(now: Int64) -> AssertionTimes {
        let issuedAt = now - profile.backdating
        return AssertionTimes(issuedAt: issuedAt, expiresAt: issuedAt + profile.lifetime)
    }

    /// The signed token.
    ///
    /// - Parameter jti: must be committed to the store before the token leaves the process.
    public func token(jti: JTI, times: AssertionTimes) throws(KeyError) -> Secret<String> {
        var claims = JSONWriter(capacity: 320)
        claims.object {
            $0.member("cid", profile.clientId.rawValue)
            $0.member("iss", profile.issuer.rawValue)
            $0.member("aud", profile.audience.rawValue)
            $0.member("jti", jti.rawValue)
            $0.member("iat", times.issuedAt)
            $0.member("exp", times.expiresAt)
        }
        do {
            return Secret(
                try JWSBuilder.compact(
                    encodedHeader: Self.encodedHeader, payload: claims.bytes
                ) { (input) throws(OpenSSLError) in try secret.code(over: input) })
        } catch {
            throw .openSSL(error)
        }
    }
}

/// What the transport tokens of a client say: all but the identifier and the times.
public struct TransportTokenProfile: Hashable, Sendable {
    /// `cid`: the organisation's API client.
    public let clientId: ClaimText
    /// `iss`
    public let issuer: ClaimText
    /// `aud`: always the same, whatever a caller asks for.
    public let audience: ClaimText
    /// Seconds from `iat` to `exp`, 10 to 60 (`flows.md` R-003-24).
    public let lifetime: Int64
    /// Seconds `iat` lies before the clock, 0 to 9.
    public let backdating: Int64

    /// The allowed lifetimes in seconds.
    public static let lifetimes: ClosedRange<Int64> = 10...60
    /// The allowed back-dating in seconds: always less than a lifetime.
    public static let backdatings: ClosedRange<Int64> = 0...9

    /// `nil` when a number is outside its range.
    public init?(
        clientId: ClaimText, issuer: ClaimText, audience: ClaimText, lifetime: Int64 = 60,
        backdating: Int64 = 0
    ) {
        guard Self.lifetimes.contains(lifetime), Self.backdatings.contains(backdating) else {
            return nil
        }
        self.clientId = clientId
        self.issuer = issuer
        self.audience = audience
        self.lifetime = lifetime
        self.backdating = backdating
    }
}

/// The text of a claim that an organisation chose, such as a name or a URL: 1 to 512 printable ASCII characters without blanks,
/// kept octet by octet.
public struct ClaimText: Hashable, Sendable, CustomStringConvertible {
    /// The text.
    public let rawValue: String

    /// `nil` for an empty or overlong text, blanks, control characters or anything beyond ASCII.
    public init?(_ text: String) {
        guard (1...512).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { return nil }
        rawValue = text
    }

    /// The text.
    public var description: String { rawValue }
}
