import JOSE
import Testing

@testable import SandboxIdP

/// A sign-in under way.
struct Session {
    let authSession: String
    let sid: String
    let nonce: String
}

/// What a sign-in ended with.
struct Tokens {
    let access: String
    let refresh: String?
    let id: String?
}

/// The steps of a sign-in that goes well, for tests of what comes after.
extension Sandbox {
    @discardableResult
    func enrol(_ device: Device, faceToken: String = "face-1", passwordProtected: Bool = false)
        async throws -> Reply
    {
        let reply = try await send(
            enrolAttempt(device, faceToken: faceToken, passwordProtected: passwordProtected))
        try #require(reply.status == 201)
        return reply
    }

    func enrolAttempt(
        _ device: Device, faceToken: String = "face-1", passwordProtected: Bool = false
    ) -> Attempt {
        Attempt(
            path: "/sandbox/enrolments",
            body: Array(
                """
                {"email":\(JWTParts.quoted(device.email)),
                 "jwk":\(device.enrolled.publicJWK.jsonText(asSigningKey: false)),
                 "face_token":\(JWTParts.quoted(faceToken)),
                 "password_protected":\(passwordProtected)}
                """.utf8), contentType: "application/json")
    }

    /// An enrolled device with a session that waits for its ceremony.
    func started(_ device: Device? = nil, scope: String = "openid offline_access") async throws -> (
        Device, Session
    ) {
        let device = try device ?? Device()
        try await enrol(device)
        return (device, try await start(device, scope: scope))
    }

    func start(_ device: Device, scope: String = "openid offline_access") async throws -> Session {
        let reply = try await send(startAttempt(device, scope: scope))
        try #require(reply.error == "insufficient_authorization")
        return Session(
            authSession: try #require(reply.text("auth_session")),
            sid: try #require(reply.json?["ceremony"]?["sid"]?.string),
            nonce: try #require(reply.nonce))
    }

    /// A started sign-in with a code.
    func completed() async throws -> (Device, Session, code: String) {
        let (device, session) = try await started()
        let reply = try await send(completeAttempt(device, session))
        return (device, session, try #require(reply.text("authorization_code")))
    }

    func tokens(_ reply: Reply) throws -> Tokens {
        try #require(reply.status == 200)
        return Tokens(
            access: try #require(reply.text("access_token")), refresh: reply.text("refresh_token"),
            id: reply.text("id_token"))
    }

    func signedIn(
        _ device: Device? = nil, scope: String = "openid offline_access"
    ) async throws -> (Device, Session, Tokens) {
        let (device, session) = try await started(device, scope: scope)
        let completion = try await send(completeAttempt(device, session))
        let code = try #require(completion.text("authorization_code"))
        return (
            device, session, try tokens(try await send(tokenAttempt(device, session, code: code)))
        )
    }

    /// A nonce of the demo API.
    func apiNonce(_ device: Device, _ token: String) async throws -> String {
        let reply = try await send(apiAttempt(device, token: token, nonce: nil))
        return try #require(reply.nonce)
    }

    /// What the demo API answers, nonce included.
    func api(
        _ device: Device, _ token: String, _ change: (inout Attempt) -> Void = { _ in }
    ) async throws -> Reply {
        var attempt = apiAttempt(device, token: token, nonce: try await apiNonce(device, token))
        change(&attempt)
        return try await send(attempt)
    }
}
