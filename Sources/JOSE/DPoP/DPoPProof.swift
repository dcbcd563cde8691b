/// What goes into a DPoP proof (RFC 9449 §4.2), and how one is made.
public struct DPoPProof: Sendable {
    /// The HTTP method as it goes on the wire, such as `POST`.
    public var htm: String
    /// The request's URI; query and fragment are left out of `htu`.
    public var uri: HTTPTargetURI
    /// Unique; at least 96 random bits, here 128.
    public var jti: String
    /// Seconds since 1970 UTC.
    public var iat: Int64
    /// The server's newest nonce, when it gave one.
    public var nonce: String?
    /// The access token the request carries; its hash becomes `ath`.
    public var accessToken: String?

    /// A proof with these claims.
    public init(
        htm: String, uri: HTTPTargetURI, jti: String, iat: Int64, nonce: String? = nil,
        accessToken: String? = nil
    ) {
        self.htm = htm
        self.uri = uri
        self.jti = jti
        self.iat = iat
        self.nonce = nonce
        self.accessToken = accessToken
    }

    /// The proof as a compact JWS with `typ` `dpop+jwt` and the public key in its header.
    ///
    /// - Parameter sign: makes a signature by `jwk`'s private half over the octets it is given, in JOSE form.
    public func compact<Failure: Error>(
        jwk: PublicJWK, sign: ([UInt8]) throws(Failure) -> [UInt8]
    ) throws(Failure) -> String {
        var header = JSONWriter()
        header.object {
            $0.member("typ", Self.type)
            $0.member("alg", jwk.algorithm.rawValue)
            $0.name("jwk")
            jwk.write(to: &$0, asSigningKey: false)
        }
        var claims = JSONWriter()
        claims.object {
            $0.member("jti", jti)
            $0.member("htm", htm)
            $0.member("htu", uri.htu)
            $0.member("iat", iat)
            if let nonce { $0.member("nonce", nonce) }
            if let accessToken { $0.member("ath", Self.accessTokenHash(accessToken)) }
        }
        return try JWSBuilder.compact(header: header.bytes, payload: claims.bytes, sign: sign)
    }

    /// The `ath` of an access token: base64url of the SHA-256 of its ASCII text.
    public static func accessTokenHash(_ token: String) -> String {
        Base64URL.encode(SHA256.hash(token.utf8))
    }

    static let type = "dpop+jwt"
}
