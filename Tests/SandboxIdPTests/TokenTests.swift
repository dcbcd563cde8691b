import JOSE
import Testing

@testable import SandboxIdP

@Suite struct TokenTests {
    static func parameter(_ name: String, _ value: String?, _ error: String) -> Break<Attempt> {
        Break("\(name) = \(value ?? "absent")", error) { $0[name] = value }
    }

    static let codeBreaks: [Break<Attempt>] = [
        parameter("grant_type", nil, "invalid_request"),
        parameter("grant_type", "password", "unsupported_grant_type"),
        parameter("grant_type", "client_credentials", "unsupported_grant_type"),
        parameter("code", nil, "invalid_request"), parameter("code", "guess", "invalid_grant"),
        parameter("code_verifier", nil, "invalid_request"),
        parameter("code_verifier", String(repeating: "a", count: 43), "invalid_grant"),
        parameter("code_verifier", "short", "invalid_grant"),
        parameter("redirect_uri", "https://app.example/cb", "invalid_grant"),
        parameter("resource", "https://api.elsewhere.example", "invalid_target"),
        Break("another key", "invalid_grant") {
            let key = try PrivateKey.generate(.ES256)
            $0.proof?.signer = key
            $0.proof?.header["jwk"] = key.publicJWK.jsonText(asSigningKey: false)
        },
    ]

    @Test(arguments: codeBreaks)
    func `a code request that breaks one rule is refused and the code stays good`(
        _ broken: Break<Attempt>
    ) async throws {
        try await Sandbox.run { sandbox in
            let (device, session, code) = try await sandbox.completed()
            var attempt = sandbox.tokenAttempt(device, session, code: code)
            try broken.apply(&attempt)
            let reply = try await sandbox.send(attempt)
            #expect(reply.status == 400)
            #expect(reply.error == broken.error)
            let good = try await sandbox.send(sandbox.tokenAttempt(device, session, code: code))
            #expect(good.status == 200)
        }
    }

    @Test func `another client cannot use a code`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session, code) = try await sandbox.completed()
            var attempt = sandbox.tokenAttempt(device, session, code: code)
            attempt["client_id"] = "other"
            attempt.assertion = sandbox.assertion(sandbox.otherKey, kid: "k2", clientId: "other")
            #expect(try await sandbox.send(attempt).error == "invalid_grant")
        }
    }

    @Test(arguments: [(60, 200), (61, 400)])
    func `a code lives 60 seconds (R-000-28)`(age: Int64, status: Int) async throws {
        try await Sandbox.run { sandbox in
            let (device, session, code) = try await sandbox.completed()
            sandbox.clock.advance(age)
            let reply = try await sandbox.send(sandbox.tokenAttempt(device, session, code: code))
            #expect(reply.status == status)
        }
    }

    @Test func `a code used twice is refused and what it gave is revoked`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session, code) = try await sandbox.completed()
            let tokens = try sandbox.tokens(
                try await sandbox.send(sandbox.tokenAttempt(device, session, code: code)))
            let again = try await sandbox.send(sandbox.tokenAttempt(device, session, code: code))
            #expect(again.error == "invalid_grant")
            let api = try await sandbox.api(device, tokens.access)
            #expect(api.error == "invalid_token")
            let refresh = try await sandbox.send(
                sandbox.refreshAttempt(device, session, token: try #require(tokens.refresh)))
            #expect(refresh.error == "invalid_grant")
        }
    }

    @Test func `32 exchanges of one code at once: one gets tokens`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session, code) = try await sandbox.completed()
            let attempts = (0..<32).map { _ in sandbox.tokenAttempt(device, session, code: code) }
            let replies = try await sandbox.sendAtOnce(attempts)
            #expect(replies.filter { $0.status == 200 }.count == 1)
            #expect(replies.filter { $0.error == "invalid_grant" }.count == 31)
        }
    }

    @Test func `every refused grant reads the same`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session, code) = try await sandbox.completed()
            var bodies: Set<[UInt8]> = []
            for broken in Self.codeBreaks where broken.error == "invalid_grant" {
                var attempt = sandbox.tokenAttempt(device, session, code: code)
                try broken.apply(&attempt)
                bodies.insert(try await sandbox.send(attempt).body)
            }
            #expect(bodies.count == 1)
        }
    }

    static let refreshBreaks: [Break<Attempt>] = [
        parameter("refresh_token", nil, "invalid_request"),
        parameter("refresh_token", "guess", "invalid_grant"),
        parameter("scope", "openid transfers", "invalid_scope"),
        parameter("scope", "openid  email", "invalid_scope"),
        parameter("resource", "https://api.elsewhere.example", "invalid_target"),
        codeBreaks[10],
    ]

    @Test(arguments: refreshBreaks)
    func `a refresh that breaks one rule is refused and the token stays good`(
        _ broken: Break<Attempt>
    ) async throws {
        try await Sandbox.run { sandbox in
            let (device, session, tokens) = try await sandbox.signedIn()
            let token = try #require(tokens.refresh)
            var attempt = sandbox.refreshAttempt(device, session, token: token)
            try broken.apply(&attempt)
            #expect(try await sandbox.send(attempt).error == broken.error)
            let good = try await sandbox.send(
                sandbox.refreshAttempt(device, session, token: token))
            #expect(good.status == 200)
        }
    }

    @Test func `a refresh does not rotate, as FAPI asks, and its ID token has no nonce`()
        async throws
    {
        try await Sandbox.run { sandbox in
            let (device, session, tokens) = try await sandbox.signedIn()
            let token = try #require(tokens.refresh)
            sandbox.clock.advance(30)
            let reply = try await sandbox.send(
                sandbox.refreshAttempt(device, session, token: token))
            let fresh = try sandbox.tokens(reply)
            #expect(fresh.refresh == nil)
            let claims = try CompactJWS(parsing: try #require(fresh.id).utf8).claims()
            #expect(claims["nonce"] == nil)
            #expect(claims["auth_time"]?.integer == sandbox.clock.now - 30)
            #expect(try await sandbox.api(device, fresh.access).status == 200)
        }
    }

    @Test func `a scope can shrink`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session, tokens) = try await sandbox.signedIn()
            var attempt = sandbox.refreshAttempt(
                device, session, token: try #require(tokens.refresh))
            attempt["scope"] = "openid"
            #expect(try await sandbox.send(attempt).text("scope") == "openid")
        }
    }

    @Test
    func
        `a rotated token presented again revokes the family, the newest token included (R-002-31)`()
        async throws
    {
        try await Sandbox.run {
            $0.options.rotatesRefreshTokens = true
        } _: { sandbox in
            let (device, session, tokens) = try await sandbox.signedIn()
            let first = try #require(tokens.refresh)
            let second = try sandbox.tokens(
                try await sandbox.send(sandbox.refreshAttempt(device, session, token: first)))
            let newest = try #require(second.refresh)
            #expect(newest != first)
            let reuse = try await sandbox.send(
                sandbox.refreshAttempt(device, session, token: first))
            #expect(reuse.error == "invalid_grant")
            let after = try await sandbox.send(
                sandbox.refreshAttempt(device, session, token: newest))
            #expect(after.error == "invalid_grant")
            let api = try await sandbox.api(device, second.access)
            #expect(api.error == "invalid_token")
        }
    }

    @Test func `32 uses of a rotating token at once: one gets tokens`() async throws {
        try await Sandbox.run {
            $0.options.rotatesRefreshTokens = true
        } _: { sandbox in
            let (device, session, tokens) = try await sandbox.signedIn()
            let token = try #require(tokens.refresh)
            let attempts = (0..<32).map { _ in
                sandbox.refreshAttempt(device, session, token: token)
            }
            let replies = try await sandbox.sendAtOnce(attempts)
            #expect(replies.filter { $0.status == 200 }.count == 1)
        }
    }

    @Test(arguments: [(3599, true), (3600, false)])
    func `an unused refresh token ends after its idle time`(wait: Int64, works: Bool) async throws {
        try await Sandbox.run { sandbox in
            let (device, session, tokens) = try await sandbox.signedIn()
            sandbox.clock.advance(wait)
            let nonce = try await sandbox.start(device).nonce
            let later = Session(authSession: "", sid: session.sid, nonce: nonce)
            let reply = try await sandbox.send(
                sandbox.refreshAttempt(device, later, token: try #require(tokens.refresh)))
            #expect((reply.status == 200) == works)
        }
    }

    @Test func `a revoked refresh token takes the access token along`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session, tokens) = try await sandbox.signedIn()
            let token = try #require(tokens.refresh)
            #expect(
                try await sandbox.send(sandbox.revokeAttempt(device, token: token)).status == 200)
            let refresh = try await sandbox.send(
                sandbox.refreshAttempt(device, session, token: token))
            #expect(refresh.error == "invalid_grant")
            let api = try await sandbox.api(device, tokens.access)
            #expect(api.error == "invalid_token")
            // Again, and unknown: not an error (RFC 7009 §2.2).
            #expect(
                try await sandbox.send(sandbox.revokeAttempt(device, token: token)).status == 200)
            #expect(try await sandbox.send(sandbox.revokeAttempt(device, token: "x")).status == 200)
        }
    }

    @Test func `an access token can be revoked too`() async throws {
        try await Sandbox.run { sandbox in
            let (device, _, tokens) = try await sandbox.signedIn()
            let reply = try await sandbox.send(
                sandbox.revokeAttempt(device, token: tokens.access))
            #expect(reply.status == 200)
            let api = try await sandbox.api(device, tokens.access)
            #expect(api.error == "invalid_token")
        }
    }

    @Test func `another client's token is refused and not revoked`() async throws {
        try await Sandbox.run { sandbox in
            let (device, _, tokens) = try await sandbox.signedIn()
            for token in [try #require(tokens.refresh), tokens.access] {
                var attempt = sandbox.revokeAttempt(device, token: token)
                attempt["client_id"] = "other"
                attempt.assertion = sandbox.assertion(
                    sandbox.otherKey, kid: "k2", clientId: "other")
                #expect(try await sandbox.send(attempt).error == "invalid_grant")
            }
            #expect(try await sandbox.api(device, tokens.access).status == 200)
        }
    }

    static let revocationBreaks: [Break<Attempt>] = [
        parameter("token", nil, "invalid_request"),
        Break("no assertion", "invalid_client") { $0.assertion = nil },
        Break("a bad proof", "invalid_dpop_proof") { $0.proof?.claims["htm"] = "\"GET\"" },
    ]

    @Test(arguments: revocationBreaks)
    func `a revocation that breaks one rule is refused`(_ broken: Break<Attempt>) async throws {
        try await Sandbox.run { sandbox in
            let (device, _, tokens) = try await sandbox.signedIn()
            var attempt = sandbox.revokeAttempt(device, token: try #require(tokens.refresh))
            try broken.apply(&attempt)
            #expect(try await sandbox.send(attempt).error == broken.error)
            #expect(try await sandbox.api(device, tokens.access).status == 200)
        }
    }
}
