import JOSE
import Testing

@testable import SandboxIdP

/// Valid requests, each fresh, for a test to break.
extension Sandbox {
    /// A good client assertion.
    func assertion(_ key: PrivateKey? = nil, kid: String = "k1", clientId: String = clientId)
        -> JWTParts
    {
        JWTParts(
            header: [
                "alg": "\"ES256\"", "kid": JWTParts.quoted(kid),
                "typ": "\"client-authentication+jwt\"",
            ],
            claims: [
                "iss": JWTParts.quoted(clientId), "sub": JWTParts.quoted(clientId),
                "aud": JWTParts.quoted(Self.issuer), "iat": "\(clock.now)",
                "exp": "\(clock.now + 60)", "jti": JWTParts.quoted(Self.unique()),
            ], signer: key ?? self.key)
    }

    /// A good proof.
    func proof(
        _ key: PrivateKey, path: String, method: String = "POST", nonce: String? = nil,
        accessToken: String? = nil
    ) -> JWTParts {
        var claims = [
            "jti": JWTParts.quoted(Self.unique()), "htm": JWTParts.quoted(method),
            "htu": JWTParts.quoted(Self.issuer + path), "iat": "\(clock.now)",
        ]
        if let nonce { claims["nonce"] = JWTParts.quoted(nonce) }
        if let accessToken {
            claims["ath"] = JWTParts.quoted(DPoPProof.accessTokenHash(accessToken))
        }
        return JWTParts(
            header: [
                "alg": "\"ES256\"", "typ": "\"dpop+jwt\"",
                "jwk": key.publicJWK.jsonText(asSigningKey: false),
            ], claims: claims, signer: key)
    }

    /// A good device request.
    func deviceRequest(
        _ device: Device, _ action: String, sid: String, lifetime: Int64 = 60
    ) -> JWTParts {
        JWTParts(
            header: [
                "alg": "\"ES256\"", "typ": "\"device-request+jwt\"",
                "kid": JWTParts.quoted(device.keyId),
            ],
            claims: [
                "iss": JWTParts.quoted(device.keyId), "aud": JWTParts.quoted(Self.issuer),
                "iat": "\(clock.now)", "exp": "\(clock.now + lifetime)",
                "jti": JWTParts.quoted(Self.unique()), "act": JWTParts.quoted(action),
                "sid": JWTParts.quoted(sid),
            ], signer: device.enrolled)
    }

    /// A form request of the client.
    func call(
        _ path: String, _ device: Device, _ form: [(name: String, value: String)],
        nonce: String? = nil
    ) -> Attempt {
        Attempt(
            path: path,
            form: form + [("client_assertion_type", ClientCredential.assertionType)],
            assertion: assertion(), proof: proof(device.dpop, path: path, nonce: nonce))
    }

    func startAttempt(_ device: Device, scope: String = "openid offline_access") -> Attempt {
        call(
            "/challenge", device,
            [
                ("client_id", Self.clientId), ("response_type", "code"), ("scope", scope),
                ("login_hint", device.email),
                ("code_challenge", Base64URL.encode(SHA256.hash(verifier.utf8))),
                ("code_challenge_method", "S256"), ("nonce", "n-0S6_WzA2Mj"),
            ])
    }

    func completeAttempt(
        _ device: Device, _ session: Session, response: String? = nil
    ) throws -> Attempt {
        call(
            "/challenge", device,
            [
                ("client_id", Self.clientId), ("auth_session", session.authSession),
                (
                    "ceremony_response",
                    try response ?? completion(device, session).compact()
                ),
            ], nonce: session.nonce)
    }

    /// The device request of a completion.
    func completion(_ device: Device, _ session: Session) -> JWTParts {
        var request = deviceRequest(device, "complete", sid: session.sid, lifetime: 300)
        request.claims["match"] =
            "{\"verdict\":\"match\",\"engine\":\"scripted\",\"at\":\(clock.now)}"
        request.claims["face_token"] = "\"face-2\""
        return request
    }

    func tokenAttempt(_ device: Device, _ session: Session, code: String) -> Attempt {
        call(
            "/token", device,
            [
                ("grant_type", "authorization_code"), ("client_id", Self.clientId),
                ("code", code), ("code_verifier", verifier),
            ], nonce: session.nonce)
    }

    func refreshAttempt(_ device: Device, _ session: Session, token: String) -> Attempt {
        call(
            "/token", device,
            [
                ("grant_type", "refresh_token"), ("client_id", Self.clientId),
                ("refresh_token", token),
            ], nonce: session.nonce)
    }

    func revokeAttempt(_ device: Device, token: String) -> Attempt {
        call(
            "/revoke", device,
            [("client_id", Self.clientId), ("token", token), ("token_type_hint", "refresh_token")])
    }

    func portalAttempt(
        _ device: Device, _ action: String, sid: String,
        _ change: (inout JWTParts) -> Void = { _ in }
    ) throws -> Attempt {
        var request = deviceRequest(device, action, sid: sid)
        if action == "abort" { request.claims["fail_reason"] = "\"user_cancelled\"" }
        change(&request)
        let path = "/portal/ceremonies/\(sid)/" + (action == "abort" ? "abort" : "face-token")
        return Attempt(
            path: path, body: Array(try request.compact().utf8), contentType: "application/jose",
            proof: proof(device.dpop, path: path))
    }

    func apiAttempt(
        _ device: Device, token: String, nonce: String?, path: String = "/api/accounts",
        method: String = "GET"
    ) -> Attempt {
        Attempt(
            method: method, path: path, contentType: nil,
            headers: [("Authorization", "DPoP \(token)")],
            proof: proof(
                device.dpop, path: path, method: method, nonce: nonce, accessToken: token))
    }

    private static func unique() -> String {
        String(UInt64.random(in: .min ... .max), radix: 36)
            + String(UInt64.random(in: .min ... .max), radix: 36)
    }
}
