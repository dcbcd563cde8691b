import JOSE
import Testing

@testable import SandboxIdP

/// What an administrator changes while sign-ins are under way.
@Suite struct ConsoleTests {
    /// The calls that check the preconditions of flows §3.2.
    enum Call: CaseIterable {
        case start, faceToken, completion, exchange, refresh
    }

    /// How to break each precondition, and how it was before.
    static func settings(_ broken: Precondition) -> (bad: String, good: String) {
        switch broken {
        case .ownApp: (#""own_app_registered":false"#, #""own_app_registered":true"#)
        case .dpop: (#""dpop_bound_access_tokens":false"#, #""dpop_bound_access_tokens":true"#)
        case .noCertificateBinding:
            (
                #""tls_client_certificate_bound_access_tokens":true"#,
                #""tls_client_certificate_bound_access_tokens":false"#
            )
        case .enabled:
            (#""first_party_challenge_enabled":false"#, #""first_party_challenge_enabled":true"#)
        case .redirectURI: (#""redirect_uris":[]"#, #""redirect_uris":["https://app.example/cb"]"#)
        case .redirectURIScheme:
            (
                #""redirect_uris":["https://app.example/cb","app:/cb"]"#,
                #""redirect_uris":["https://app.example/cb","http://127.0.0.1/cb"]"#
            )
        case .clientAuthMethod:
            (
                #""token_endpoint_auth_method":"client_secret_basic""#,
                #""token_endpoint_auth_method":"private_key_jwt""#
            )
        }
    }

    @Test(arguments: Precondition.allCases, Call.allCases)
    func
        `R-000-07 a precondition that is withdrawn stops the very next call, and restored it goes on`(
            _ broken: Precondition, _ call: Call
        ) async throws
    {
        try await Sandbox.run { sandbox in
            let attempt = try await sandbox.prepared(call)
            let (bad, good) = Self.settings(broken)
            try await sandbox.change(bad)
            let refused = try await sandbox.send(try attempt())
            #expect(refused.error == broken.rawValue)
            #expect(refused.status == 400)
            try await sandbox.change(good)
            let served = try await sandbox.send(try attempt())
            #expect(served.status == 200 || served.error == "insufficient_authorization")
        }
    }

    @Test func `what was granted can be given up whatever the console says`() async throws {
        try await Sandbox.run { sandbox in
            let (device, _, tokens) = try await sandbox.signedIn()
            try await sandbox.change(Self.settings(.enabled).bad)
            let token = try #require(tokens.refresh)
            #expect(
                try await sandbox.send(sandbox.revokeAttempt(device, token: token)).status == 200)
            #expect(try await sandbox.api(device, tokens.access).error == "invalid_token")
        }
    }

    @Test(arguments: [("revoked", "device_key_revoked"), ("replaced", "device_key_replaced")])
    func `R-004-46 the holder of a key that is gone is told so, and nobody else`(
        status: String, error: String
    ) async throws {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            try await sandbox.changeKey(device, status)
            func faceToken(_ change: (inout JWTParts) -> Void = { _ in }) async throws -> Reply {
                try await sandbox.send(
                    sandbox.portalAttempt(device, "face_token", sid: session.sid, change))
            }
            let told = try await faceToken()
            #expect(told.error == error)
            #expect(told.status == 403)
            #expect(
                try await sandbox.send(sandbox.completeAttempt(device, session)).error == error)
            let forger = try PrivateKey.generate(.ES256)
            let forged = try await faceToken { $0.signer = forger }
            #expect(forged.error == "signature_rejected")
            // The same key enrolled again is still gone; only the console brings it back.
            try await sandbox.enrol(device)
            #expect(try await faceToken().error == error)
            try await sandbox.changeKey(device, "good")
            #expect(try await faceToken().status == 200)
        }
    }

    @Test
    func `a user who may not use the application learns it after the proof, and a stranger never`()
        async throws
    {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            try await sandbox.change(#""denied_emails":["Ada@Example.com"]"#)
            let face = try await sandbox.send(
                sandbox.portalAttempt(device, "face_token", sid: session.sid))
            #expect(face.status == 200)
            let other = try Device(email: "grace@example.com")
            try await sandbox.enrol(other)
            let strangers = try sandbox.completion(other, session).compact()
            let notTold = try await sandbox.send(
                sandbox.completeAttempt(device, session, response: strangers))
            #expect(notTold.error == "ceremony_unavailable")
            let told = try await sandbox.send(sandbox.completeAttempt(device, session))
            #expect(told.error == "access_denied")
            #expect(told.status == 403)
            let (_, _, allowed) = try await sandbox.signedIn(other)
            #expect(try await sandbox.api(other, allowed.access).status == 200)
        }
    }

    @Test func `R-000-16 an application that wants a browser says so, whoever the hint names`()
        async throws
    {
        try await Sandbox.run { sandbox in
            let (known, _) = try await sandbox.started()
            try await sandbox.change(#""browser_required":true"#)
            let first = try await sandbox.send(sandbox.startAttempt(known))
            let second = try await sandbox.send(
                sandbox.startAttempt(try Device(email: "nobody@example.com")))
            #expect(first.error == "redirect_to_web")
            #expect(first.body == second.body)
            try await sandbox.change(#""browser_required":false"#)
            _ = try await sandbox.start(known)
        }
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"client_id":7}"#, #"{"client_id":"stranger"}"#,
        #"{"client_id":"app","own_app_registered":"no"}"#,
        #"{"client_id":"app","own_app_registered":false,"redirect_uris":"x"}"#,
        #"{"client_id":"app","own_app_registered":false,"redirect_uris":[1]}"#,
        #"{"client_id":"app","own_app_registered":false,"unheard_of":true}"#,
        #"{"client_id":"app","own_app_registered":false,"own_app_registered":false}"#,
    ])
    func `a malformed change of an application changes nothing`(body: String) async throws {
        try await Sandbox.run { sandbox in
            let reply = try await sandbox.send(sandbox.console("/sandbox/applications", body))
            #expect(reply.error == "invalid_request")
            _ = try await sandbox.start(try Device())
        }
    }

    @Test(arguments: [
        "", "{}", #"{"key_id":"nobody's","status":"revoked"}"#, #"{"status":"revoked"}"#,
    ])
    func `a malformed change of a key is refused`(body: String) async throws {
        try await Sandbox.run { sandbox in
            let reply = try await sandbox.send(sandbox.console("/sandbox/keys", body))
            #expect(reply.error == "invalid_request")
        }
    }

    @Test(arguments: ["good ", "", "REVOKED"])
    func `a key has no other status`(status: String) async throws {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            let reply = try await sandbox.send(
                sandbox.console(
                    "/sandbox/keys",
                    #"{"key_id":\#(JWTParts.quoted(device.keyId)),"status":"\#(status)"}"#))
            #expect(reply.error == "invalid_request")
            let face = try await sandbox.send(
                sandbox.portalAttempt(device, "face_token", sid: session.sid))
            #expect(face.status == 200)
        }
    }
}

extension Sandbox {
    func console(_ path: String, _ body: String) -> Attempt {
        Attempt(path: path, body: Array(body.utf8), contentType: "application/json")
    }

    /// Changes the application's settings.
    func change(_ members: String) async throws {
        let reply = try await send(
            console("/sandbox/applications", "{\"client_id\":\"\(Self.clientId)\",\(members)}"))
        try #require(reply.status == 204)
    }

    func changeKey(_ device: Device, _ status: String) async throws {
        let reply = try await send(
            console(
                "/sandbox/keys",
                #"{"key_id":\#(JWTParts.quoted(device.keyId)),"status":"\#(status)"}"#))
        try #require(reply.status == 204)
    }

    /// Everything that comes before a call, and that call, made anew each time.
    fileprivate func prepared(_ call: ConsoleTests.Call) async throws -> () throws -> Attempt {
        switch call {
        case .start:
            let device = try Device()
            return { startAttempt(device) }
        case .faceToken:
            let (device, session) = try await started()
            return { try portalAttempt(device, "face_token", sid: session.sid) }
        case .completion:
            let (device, session) = try await started()
            let response = try completion(device, session).compact()
            return { try completeAttempt(device, session, response: response) }
        case .exchange:
            let (device, session, code) = try await completed()
            return { tokenAttempt(device, session, code: code) }
        case .refresh:
            let (device, session, tokens) = try await signedIn()
            let token = try #require(tokens.refresh)
            return { refreshAttempt(device, session, token: token) }
        }
    }
}
