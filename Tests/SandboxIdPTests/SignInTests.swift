import HTTPClient
import JOSE
import Testing

@testable import SandboxIdP

@Suite struct SignInTests {
    @Test func `a whole sign-in ends with tokens that the API takes (flows 3.5)`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            let face = try await sandbox.send(
                sandbox.portalAttempt(device, "face_token", sid: session.sid))
            #expect(face.status == 200)
            #expect(face.text("face_token") == "face-1")
            #expect(face.json?["password_protected"]?.bool == false)
            let completion = try await sandbox.send(sandbox.completeAttempt(device, session))
            #expect(completion.status == 200)
            let code = try #require(completion.text("authorization_code"))
            let reply = try await sandbox.send(
                sandbox.tokenAttempt(device, session, code: code))
            let tokens = try sandbox.tokens(reply)
            #expect(reply.text("token_type") == "DPoP")
            #expect(reply.headers.first("Cache-Control") == "no-store")
            #expect(try await sandbox.api(device, tokens.access).status == 200)
        }
    }

    @Test func `the ID token names issuer, client, nonce and time of authentication`() async throws
    {
        try await Sandbox.run { sandbox in
            let (_, _, tokens) = try await sandbox.signedIn()
            let jws = try CompactJWS(parsing: try #require(tokens.id).utf8)
            let claims = try jws.claims()
            #expect(claims["iss"]?.string == Sandbox.issuer)
            #expect(claims["aud"]?.string == Sandbox.clientId)
            #expect(claims["nonce"]?.string == "n-0S6_WzA2Mj")
            #expect(claims["auth_time"]?.integer == sandbox.clock.now)
            let reply = try await sandbox.send(
                Attempt(method: "GET", path: "/jwks", contentType: nil))
            let set = try JWKSet(try #require(reply.json))
            let key = try PublicKey(
                try #require(set.candidates(kid: jws.kid, algorithm: .ES256).first))
            #expect(jws.isSigned(by: key))
        }
    }

    @Test func `the access token is bound to the install key`() async throws {
        try await Sandbox.run { sandbox in
            let (device, _, tokens) = try await sandbox.signedIn()
            let jws = try CompactJWS(parsing: tokens.access.utf8)
            let claims = try jws.claims()
            #expect(jws.type == "at+jwt")
            #expect(claims["cnf"]?["jkt"]?.string == device.dpop.publicJWK.thumbprint)
            #expect(claims["aud"]?.string == Sandbox.issuer + "/api")
        }
    }

    @Test func `without offline_access there is no refresh token (R-000-34)`() async throws {
        try await Sandbox.run { sandbox in
            let (_, _, tokens) = try await sandbox.signedIn(scope: "openid")
            #expect(tokens.refresh == nil)
        }
    }

    @Test func `without openid there is no ID token (R-000-03)`() async throws {
        try await Sandbox.run { sandbox in
            let (_, _, tokens) = try await sandbox.signedIn(scope: "email")
            #expect(tokens.id == nil)
        }
    }

    @Test
    func
        `the rotated face token takes the old one's place when the completion is served (R-000-17)`()
        async throws
    {
        try await Sandbox.run { sandbox in
            let (device, _, _) = try await sandbox.completed()
            let session = try await sandbox.start(device)
            let face = try await sandbox.send(
                sandbox.portalAttempt(device, "face_token", sid: session.sid))
            #expect(face.text("face_token") == "face-2")
        }
    }

    @Test func `a face token with a password says so (R-000-15)`() async throws {
        try await Sandbox.run { sandbox in
            let device = try Device()
            try await sandbox.enrol(device, passwordProtected: true)
            let session = try await sandbox.start(device)
            let face = try await sandbox.send(
                sandbox.portalAttempt(device, "face_token", sid: session.sid))
            #expect(face.json?["password_protected"]?.bool == true)
        }
    }
}
