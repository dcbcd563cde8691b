import JOSE

/// A request to the portal signed by the enrolled device key (R-100-50).
struct DeviceRequest: Sendable {
    /// `act` and the members that only that action has.
    enum Action: Sendable {
        case faceToken
        case abort(AbortReason)
        /// The match statement and the rotated face token.
        case complete(engine: String, at: Int64, faceToken: SealedFaceToken)

        var name: String {
            switch self {
            case .faceToken: "face_token"
            case .abort: "abort"
            case .complete: "complete"
            }
        }

        func writeMembers(to json: inout JSONWriter) {
            switch self {
            case .faceToken: break
            case .abort(let reason): json.member("fail_reason", reason.rawValue)
            case .complete(let engine, let time, let faceToken):
                json.name("match")
                json.object {
                    $0.member("verdict", "match")
                    $0.member("engine", engine)
                    $0.member("at", time)
                }
                json.member("face_token", faceToken.expose())
            }
        }
    }

    static let contentType = "application/jose"
    static let lifetime: Int64 = 60

    let issuer: String
    let sid: String
    let action: Action
    /// Seconds since 1970 UTC by the provider's clock.
    let issuedAt: Int64
    /// `issuedAt` + 60, or the ceremony's end where the exact bytes must stay good (R-100-51).
    let expiresAt: Int64
    /// 128 random bits, base64url.
    let jti: String

    /// The compact JWS by an enrolled key.
    func signed(
        by keyStore: any KeyStore, label: String, keyId: String
    ) throws(AuthnFault) -> Secret<String> {
        try SignedJWT(keyStore: keyStore, label: label).make(
            header: header { $0.member("kid", keyId) }, claims: claims(issuer: keyId))
    }

    /// The compact JWS by a key that shows itself in the header (R-000-05, R-100-52).
    func signed(
        by keyStore: any KeyStore, label: String, key: PublicJWK
    ) throws(AuthnFault) -> Secret<String> {
        let header = header {
            $0.name("jwk")
            key.write(to: &$0, asSigningKey: false)
        }
        return try SignedJWT(keyStore: keyStore, label: label).make(
            header: header, claims: claims(issuer: key.thumbprint))
    }

    private func header(_ key: (inout JSONWriter) -> Void) -> JSONWriter {
        var json = JSONWriter()
        json.object {
            $0.member("alg", "ES256")
            $0.member("typ", "device-request+jwt")
            key(&$0)
        }
        return json
    }

    private func claims(issuer keyId: String) -> JSONWriter {
        var json = JSONWriter(capacity: 512)
        json.object {
            $0.member("iss", keyId)
            $0.member("aud", issuer)
            $0.member("iat", issuedAt)
            $0.member("exp", expiresAt)
            $0.member("jti", jti)
            $0.member("act", action.name)
            $0.member("sid", sid)
            action.writeMembers(to: &$0)
        }
        return json
    }
}
