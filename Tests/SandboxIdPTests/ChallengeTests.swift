import HTTPClient
import JOSE
import Testing

@testable import SandboxIdP

@Suite struct ChallengeTests {
    static func parameter(_ name: String, _ value: String?, _ error: String) -> Break<Attempt> {
        Break("\(name) = \(value ?? "absent")", error) { $0[name] = value }
    }

    static let startBreaks: [Break<Attempt>] = [
        parameter("response_type", nil, "invalid_request"),
        parameter("response_type", "token", "unsupported_response_type"),
        parameter("code_challenge", nil, "invalid_request"),
        parameter("code_challenge", "short", "invalid_request"),
        parameter(
            "code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cN", "invalid_request"),
        parameter("code_challenge_method", nil, "invalid_request"),
        parameter("code_challenge_method", "plain", "invalid_request"),
        parameter("code_challenge_method", "s256", "invalid_request"),
        parameter("login_hint", nil, "invalid_request"),
        parameter("login_hint", "ada", "invalid_request"),
        parameter("login_hint", "a@b\r\nBcc: x@y", "invalid_request"),
        parameter("scope", "openid admin", "invalid_scope"),
        parameter("scope", "openid \"", "invalid_scope"),
        parameter("nonce", String(repeating: "n", count: 65), "invalid_request"),
        parameter("resource", "https://api.elsewhere.example", "invalid_target"),
    ]

    @Test(arguments: startBreaks)
    func `a start that breaks one rule is refused`(_ broken: Break<Attempt>) async throws {
        try await Sandbox.run { sandbox in
            var attempt = sandbox.startAttempt(try Device())
            try broken.apply(&attempt)
            let reply = try await sandbox.send(attempt)
            #expect(reply.status == 400)
            #expect(reply.error == broken.error)
        }
    }

    @Test func `offline_access is refused to a client that may not have it (R-002-16)`()
        async throws
    {
        try await Sandbox.run {
            $0.clients[Sandbox.clientId]?.scopes = ["openid"]
        } _: { sandbox in
            let reply = try await sandbox.send(sandbox.startAttempt(try Device()))
            #expect(reply.error == "invalid_scope")
        }
    }

    @Test func `a nonce of 64 characters is taken`() async throws {
        try await Sandbox.run { sandbox in
            var attempt = sandbox.startAttempt(try Device())
            attempt["nonce"] = String(repeating: "n", count: 64)
            #expect(try await sandbox.send(attempt).error == "insufficient_authorization")
        }
    }

    /// What a test changes of a completion: the form around it and the device request in it.
    struct Completion {
        var attempt: Attempt
        var request: JWTParts
    }

    static func claim(_ name: String, _ value: String?) -> Break<Completion> {
        Break("claim \(name) = \(value ?? "absent")", "signature_rejected") {
            $0.request.claims[name] = value
        }
    }

    static func header(_ name: String, _ value: String?) -> Break<Completion> {
        Break("header \(name) = \(value ?? "absent")", "signature_rejected") {
            $0.request.header[name] = value
        }
    }

    static let completionBreaks: [Break<Completion>] = [
        claim("iss", nil), claim("iss", "\"x\""), claim("aud", nil),
        claim("aud", "[\"https://idp.example\"]"), claim("aud", "\"https://idp.example/\""),
        claim("act", "\"approve\""), claim("act", "\"face_token\""), claim("sid", "\"x\""),
        claim("exp", nil), claim("exp", "1800000000"), claim("exp", "1800000361"),
        claim("iat", nil), claim("iat", "1800000011"), claim("jti", nil), claim("match", nil),
        claim("match", "{\"verdict\":\"no_match\",\"engine\":\"scripted\",\"at\":1}"),
        claim("match", "{\"verdict\":\"match\",\"at\":1}"), claim("face_token", nil),
        claim("face_token", "\"\""), header("typ", "\"JWT\""), header("alg", "\"none\""),
        header("crit", "[]"), header("kid", nil),
        Break("signed by another key", "signature_rejected") {
            $0.request.signer = try PrivateKey.generate(.ES256)
        },
        Break("no JWS", "signature_rejected") { $0.request.tamper = { _ in "hello" } },
        Break("an unknown session", "invalid_session") { $0.attempt["auth_session"] = "guess" },
        Break("another key's proof", "invalid_dpop_proof") {
            let key = try PrivateKey.generate(.ES256)
            $0.attempt.proof?.signer = key
            $0.attempt.proof?.header["jwk"] = key.publicJWK.jsonText(asSigningKey: false)
        },
        Break("another response type", "unsupported_response_type") {
            $0.attempt["response_type"] = "token"
        },
        Break("no ceremony response", "insufficient_authorization") {
            $0.request.tamper = { _ in "" }
        },
    ]

    @Test(arguments: completionBreaks)
    func `a completion that breaks one rule is refused and the session stays open`(
        _ broken: Break<Completion>
    ) async throws {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            var completion = Completion(
                attempt: try sandbox.completeAttempt(device, session, response: "x"),
                request: sandbox.completion(device, session))
            try broken.apply(&completion)
            completion.attempt["ceremony_response"] = try completion.request.compact()
            #expect(try await sandbox.send(completion.attempt).error == broken.error)
            #expect(try await sandbox.send(sandbox.completeAttempt(device, session)).status == 200)
        }
    }

    @Test func `an enrolled key of another address completes nothing`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            let other = try Device(email: "grace@example.com")
            try await sandbox.enrol(other)
            let response = try sandbox.completion(other, session).compact()
            let reply = try await sandbox.send(
                sandbox.completeAttempt(device, session, response: response))
            #expect(reply.error == "ceremony_unavailable")
        }
    }

    @Test func `another client's session is no session`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            var attempt = try sandbox.completeAttempt(device, session)
            attempt["client_id"] = "other"
            attempt.assertion = sandbox.assertion(sandbox.otherKey, kid: "k2", clientId: "other")
            #expect(try await sandbox.send(attempt).error == "invalid_session")
        }
    }

    @Test func `a session ends`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            let response = try sandbox.completion(device, session).compact()
            sandbox.clock.advance(300)
            let fresh = try await sandbox.start(device).nonce
            let reply = try await sandbox.send(
                sandbox.completeAttempt(
                    device,
                    Session(authSession: session.authSession, sid: session.sid, nonce: fresh),
                    response: response))
            #expect(reply.error == "invalid_session")
        }
    }

    @Test func `the same bytes again give a new code, and the first is void`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            let response = try sandbox.completion(device, session).compact()
            let codes = try await sandbox.codes(2, device, session, response)
            let first = try await sandbox.send(
                sandbox.tokenAttempt(device, session, code: codes[0]))
            #expect(first.error == "invalid_grant")
            let second = try await sandbox.send(
                sandbox.tokenAttempt(device, session, code: codes[1]))
            #expect(second.status == 200)
        }
    }

    @Test func `other bytes after a completion are refused`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session, _) = try await sandbox.completed()
            let reply = try await sandbox.send(sandbox.completeAttempt(device, session))
            #expect(reply.error == "signature_rejected")
        }
    }

    @Test func `a completion can be re-sent without limit while its code is unspent (R-000-27)`()
        async throws
    {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            let response = try sandbox.completion(device, session).compact()
            let codes = try await sandbox.codes(8, device, session, response)
            let reply = try await sandbox.send(
                sandbox.tokenAttempt(device, session, code: codes[7]))
            #expect(reply.status == 200)
        }
    }

    @Test
    func
        `a replacement for a spent code revokes the lost exchange's grant, three times at most (R-000-25)`()
        async throws
    {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            let response = try sandbox.completion(device, session).compact()
            var live: [Tokens] = []
            for _ in 0...3 {
                let code = try await sandbox.codes(1, device, session, response)[0]
                live.append(
                    try sandbox.tokens(
                        try await sandbox.send(
                            sandbox.tokenAttempt(device, session, code: code))))
            }
            let fifth = try await sandbox.send(
                sandbox.completeAttempt(device, session, response: response))
            #expect(fifth.error == "invalid_session")
            for tokens in live.dropLast() {
                let reply = try await sandbox.api(device, tokens.access)
                #expect(reply.error == "invalid_token")
                let refresh = try await sandbox.send(
                    sandbox.refreshAttempt(device, session, token: try #require(tokens.refresh)))
                #expect(refresh.error == "invalid_grant")
            }
            let last = try #require(live.last)
            #expect(try await sandbox.api(device, last.access).status == 200)
        }
    }

    @Test func `no replacement code after the session's end (R-000-25)`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            let response = try sandbox.completion(device, session).compact()
            _ = try await sandbox.codes(1, device, session, response)
            sandbox.clock.advance(300)
            let nonce = try await sandbox.start(device).nonce
            let late = Session(authSession: session.authSession, sid: session.sid, nonce: nonce)
            let reply = try await sandbox.send(
                sandbox.completeAttempt(device, late, response: response))
            #expect(reply.error == "invalid_session")
        }
    }

    @Test func `thirty starts an hour for one address, whoever makes them (R-000-70)`() async throws
    {
        try await Sandbox.run { sandbox in
            let device = try Device(email: "Ada@Example.com")
            for _ in 0..<30 { _ = try await sandbox.start(device) }
            let other = try Device(email: "ada@example.com")
            let reply = try await sandbox.send(sandbox.startAttempt(other))
            #expect(reply.status == 429)
            #expect(reply.headers.first("Retry-After") == "3600")
            sandbox.clock.advance(3599)
            #expect(try await sandbox.send(sandbox.startAttempt(other)).status == 429)
            sandbox.clock.advance(1)
            _ = try await sandbox.start(other)
        }
    }

    @Test func `starts that can never complete count like others (R-000-73, R-000-70)`()
        async throws
    {
        try await Sandbox.run {
            $0.limits.startsPerEmail = RateQuota(count: 4, seconds: 3600)
        } _: { sandbox in
            let stranger = try Device()
            _ = try await sandbox.start(stranger)
            _ = try await sandbox.start(stranger)
            // From here on the address has an enrolled key, and the starts before still count.
            let enrolled = try Device()
            try await sandbox.enrol(enrolled)
            _ = try await sandbox.start(enrolled)
            _ = try await sandbox.start(stranger)
            #expect(try await sandbox.send(sandbox.startAttempt(enrolled)).status == 429)
            #expect(try await sandbox.send(sandbox.startAttempt(stranger)).status == 429)
        }
    }

    @Test func `the tenant's limit spares calls that continue a session (R-000-71)`() async throws {
        try await Sandbox.run {
            $0.limits.startsPerTenant = RateQuota(count: 1, seconds: 60)
        } _: { sandbox in
            let (device, session) = try await sandbox.started()
            let refused = try await sandbox.send(
                sandbox.startAttempt(try Device(email: "grace@example.com")))
            #expect(refused.status == 429)
            #expect(try await sandbox.send(sandbox.completeAttempt(device, session)).status == 200)
        }
    }

    @Test func `six hundred starts a minute for the tenant, whoever makes them (R-000-71)`()
        async throws
    {
        try await Sandbox.run {
            #expect($0.limits.startsPerTenant == RateQuota(count: 600, seconds: 60))
            $0.limits.startsPerTenant = RateQuota(count: 2, seconds: 60)
        } _: { sandbox in
            for email in ["ada@example.com", "grace@example.com"] {
                _ = try await sandbox.start(try Device(email: email))
            }
            let third = try Device(email: "edsger@example.com")
            #expect(try await sandbox.send(sandbox.startAttempt(third)).status == 429)
            sandbox.clock.advance(59)
            #expect(try await sandbox.send(sandbox.startAttempt(third)).status == 429)
            sandbox.clock.advance(1)
            _ = try await sandbox.start(third)
        }
    }

    @Test func `one limit an address covers every endpoint (R-000-72)`() async throws {
        try await Sandbox.run {
            $0.limits.requestsPerAddress = RateQuota(count: 2, seconds: 60)
        } _: { sandbox in
            let jwks = Attempt(method: "GET", path: "/jwks", contentType: nil)
            #expect(try await sandbox.send(jwks).status == 200)
            _ = try await sandbox.start(try Device())
            #expect(try await sandbox.send(jwks).status == 429)
        }
    }
}

extension Sandbox {
    /// Sends the same completion so many times.
    func codes(
        _ count: Int, _ device: Device, _ session: Session, _ response: String
    ) async throws -> [String] {
        var codes: [String] = []
        for _ in 0..<count {
            let reply = try await send(completeAttempt(device, session, response: response))
            codes.append(try #require(reply.text("authorization_code")))
        }
        return codes
    }
}
