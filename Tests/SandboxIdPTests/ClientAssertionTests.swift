import HTTPClient
import JOSE
import Testing

@testable import SandboxIdP

/// Each case breaks exactly one rule of standards digest §2.3 in an otherwise good start of a sign-in.
@Suite struct ClientAssertionTests {
    static let now: Int64 = 1_800_000_000

    static func header(_ name: String, _ value: String?) -> Break<Attempt> {
        Break("header \(name) = \(value ?? "absent")", "invalid_client") {
            $0.assertion?.header[name] = value
        }
    }

    static func claim(_ name: String, _ value: String?) -> Break<Attempt> {
        Break("claim \(name) = \(value ?? "absent")", "invalid_client") {
            $0.assertion?.claims[name] = value
        }
    }

    static let claims: [Break<Attempt>] = [
        claim("iss", nil), claim("iss", "\"other\""), claim("sub", nil), claim("sub", "\"other\""),
        claim("sub", "7"), claim("aud", nil), claim("aud", "[\"https://idp.example\"]"),
        claim("aud", "[\"https://idp.example\",\"x\"]"), claim("aud", "\"https://idp.example/\""),
        claim("aud", "\"https://idp.example/token\""), claim("aud", "\"https://IDP.example\""),
        claim("aud", "\"https://idp.example:443\""), claim("exp", nil), claim("exp", "\(now)"),
        claim("exp", "\(now - 1)"), claim("exp", "\"\(now + 60)\""), claim("exp", "-1"),
        claim("exp", "1e300"), claim("exp", "\(now + 601)"), claim("exp", "null"),
        claim("iat", "\(now + 11)"), claim("iat", "\"\(now)\""), claim("nbf", "\(now + 11)"),
        claim("nbf", "true"), claim("jti", nil), claim("jti", "\"\""), claim("jti", "7"),
        claim("jti", "\"\(String(repeating: "x", count: 129))\""), claim("cnf", "{}"),
        claim("cnf", "{\"jkt\":\"short\"}"),
        claim("cnf", "{\"jkt\":\"NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs\"}"),
    ]

    static let headers: [Break<Attempt>] = [
        header("typ", "\"dpop+jwt\""), header("typ", "\"at+jwt\""),
        header("typ", "\"oauth-client-attestation+jwt\""), header("typ", "\"device-request+jwt\""),
        header("alg", "\"none\""), header("alg", "\"RS256\""), header("alg", "\"HS256\""),
        header("alg", "\"PS256\""), header("alg", nil), header("kid", "\"K1\""),
        header("kid", "\"k2\""), header("kid", "1"), header("crit", "[\"exp\"]"),
        header("b64", "false"), header("jku", "\"https://evil.example\""),
        header("x5u", "\"https://evil.example\""), header("x5c", "[]"),
        header("jwk", "{\"kty\":\"EC\"}"),
    ]

    static let shapes: [Break<Attempt>] = [
        Break("signed by another key", "invalid_client") {
            $0.assertion?.signer = try PrivateKey.generate(.ES256)
        },
        Break("a flipped bit", "invalid_client") {
            $0.assertion?.tamper = { text in
                let last = text.lastIndex(of: ".") ?? text.startIndex
                let next = text.index(after: last)
                let other = text[next] == "A" ? "B" : "A"
                return text[...last] + other + text[text.index(after: next)...]
            }
        },
        Break("no signature", "invalid_client") {
            $0.assertion?.tamper = { String($0[...($0.lastIndex(of: ".") ?? $0.startIndex)]) }
        },
        Break("five segments", "invalid_client") { $0.assertion?.tamper = { $0 + ".x.y" } },
        Break("padding", "invalid_client") { $0.assertion?.tamper = { $0 + "==" } },
        Break("two JWTs in one value", "invalid_client") {
            $0.assertion?.tamper = { $0 + " " + $0 }
        },
        Break("a duplicate claim", "invalid_client") {
            let name = "\"jti\":\"a\""
            let claims = $0.assertion?.claims ?? [:]
            $0.assertion?.payload =
                "{\(name),\(name),\"iss\":\"app\",\"sub\":\"app\",\"exp\":\(claims["exp"] ?? "0"),"
                + "\"aud\":\"https://idp.example\"}"
        },
        Break("no JSON", "invalid_client") { $0.assertion?.payload = "hello" },
        Break("more than 8 KiB", "invalid_client") {
            $0.assertion?.claims["pad"] = JWTParts.quoted(String(repeating: "x", count: 8200))
        },
        Break("no assertion", "invalid_client") { $0.assertion = nil },
        Break("no credential at all", "invalid_client") {
            $0.assertion = nil
            $0["client_assertion_type"] = nil
        },
        Break("no type", "invalid_client") { $0["client_assertion_type"] = nil },
        Break("another type", "invalid_client") {
            $0["client_assertion_type"] =
                "urn:ietf:params:oauth:client-assertion-type:saml2-bearer"
        },
        Break("a type in capitals", "invalid_client") {
            $0["client_assertion_type"] = $0["client_assertion_type"]?.uppercased()
        },
        Break("another client_id", "invalid_client") { $0["client_id"] = "other" },
        Break("an unknown client", "invalid_client") {
            $0["client_id"] = nil
            $0.assertion?.claims["iss"] = "\"nobody\""
            $0.assertion?.claims["sub"] = "\"nobody\""
        },
        Break("a client secret only", "invalid_client") {
            $0.assertion = nil
            $0["client_assertion_type"] = nil
            $0["client_secret"] = "s"
        },
        Break("a client secret as well", "invalid_request") { $0["client_secret"] = "s" },
        Break("a Basic header as well", "invalid_request") {
            $0.headers.append(("Authorization", "Basic YXBwOnM="))
        },
        Break("the assertion twice", "invalid_request") {
            $0.form.append(("client_assertion", "x"))
        },
        Break("a parameter twice", "invalid_request") {
            $0.form.append(("client_id", Sandbox.clientId))
        },
        Break("a parameter in the query", "invalid_request") {
            $0.query = "?client_id=app"
        },
    ]

    @Test(arguments: claims + headers + shapes)
    func `an assertion that breaks one rule is refused`(_ broken: Break<Attempt>) async throws {
        try await Sandbox.run { sandbox in
            var attempt = sandbox.startAttempt(try Device())
            try broken.apply(&attempt)
            let reply = try await sandbox.send(attempt)
            #expect(reply.status == broken.status)
            #expect(reply.error == broken.error)
            // The unbroken request still passes: nothing of the broken one was kept.
            let good = try await sandbox.send(sandbox.startAttempt(try Device()))
            #expect(good.error == "insufficient_authorization")
        }
    }

    static let accepted: [Break<Attempt>] = [
        Break("typ JWT", nil) { $0.assertion?.header["typ"] = "\"JWT\"" },
        Break("typ with application/", nil) {
            $0.assertion?.header["typ"] = "\"application/client-authentication+jwt\""
        },
        Break("no typ", nil) { $0.assertion?.header["typ"] = nil },
        Break("no iat", nil) { $0.assertion?.claims["iat"] = nil },
        Break("iat 10 seconds ahead", nil) { $0.assertion?.claims["iat"] = "\(now + 10)" },
        Break("nbf 10 seconds ahead", nil) { $0.assertion?.claims["nbf"] = "\(now + 10)" },
        Break("fractional times", nil) { $0.assertion?.claims["exp"] = "\(now + 30).25" },
        Break("an unknown claim", nil) { $0.assertion?.claims["x"] = "[1]" },
        Break("no client_id parameter", nil) { $0["client_id"] = nil },
        Break("no kid", nil) { $0.assertion?.header["kid"] = nil },
    ]

    @Test(arguments: accepted)
    func `what the standards ask to accept is accepted`(_ variant: Break<Attempt>) async throws {
        try await Sandbox.run { sandbox in
            var attempt = sandbox.startAttempt(try Device())
            try variant.apply(&attempt)
            #expect(try await sandbox.send(attempt).error == "insufficient_authorization")
        }
    }

    @Test func `an assertion bound to the proof's key is accepted`() async throws {
        try await Sandbox.run { sandbox in
            let device = try Device()
            var attempt = sandbox.startAttempt(device)
            attempt.assertion?.claims["cnf"] = "{\"jkt\":\"\(device.dpop.publicJWK.thumbprint)\"}"
            #expect(try await sandbox.send(attempt).error == "insufficient_authorization")
        }
    }

    @Test func `a PS256 client authenticates with PS256`() async throws {
        let key = try PrivateKey.generate(.PS256)
        let keys = StaticKeys([Sandbox.clientId: JWKSet([Sandbox.named(key, "k1")])])
        try await Sandbox.run(keys: keys) { sandbox in
            var attempt = sandbox.startAttempt(try Device())
            attempt.assertion?.header["alg"] = "\"PS256\""
            attempt.assertion?.signer = key
            #expect(try await sandbox.send(attempt).error == "insufficient_authorization")
        }
    }

    @Test func `an assertion works once`() async throws {
        try await Sandbox.run { sandbox in
            let device = try Device()
            let attempt = sandbox.startAttempt(device)
            #expect(try await sandbox.send(attempt).error == "insufficient_authorization")
            var again = sandbox.startAttempt(device)
            again.assertion = attempt.assertion
            #expect(try await sandbox.send(again).error == "invalid_client")
        }
    }

    @Test func `the same jti under another client is another jti`() async throws {
        try await Sandbox.run { sandbox in
            let device = try Device()
            var first = sandbox.startAttempt(device)
            first.assertion?.claims["jti"] = "\"same\""
            var second = sandbox.startAttempt(device)
            second["client_id"] = "other"
            second.assertion = sandbox.assertion(sandbox.otherKey, kid: "k2", clientId: "other")
            second.assertion?.claims["jti"] = "\"same\""
            #expect(try await sandbox.send(first).error == "insufficient_authorization")
            #expect(try await sandbox.send(second).error == "insufficient_authorization")
        }
    }

    @Test func `an assertion is spent even when a nonce challenge follows`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session, code) = try await sandbox.completed()
            var attempt = sandbox.tokenAttempt(device, session, code: code)
            attempt.proof?.claims["nonce"] = nil
            #expect(try await sandbox.send(attempt).error == "use_dpop_nonce")
            attempt.proof = sandbox.proof(device.dpop, path: "/token", nonce: session.nonce)
            #expect(try await sandbox.send(attempt).error == "invalid_client")
        }
    }

    @Test func `an assertion that fails a check is not spent`() async throws {
        try await Sandbox.run { sandbox in
            let device = try Device()
            var attempt = sandbox.startAttempt(device)
            let good = attempt.assertion
            attempt["client_id"] = "other"
            #expect(try await sandbox.send(attempt).error == "invalid_client")
            var again = sandbox.startAttempt(device)
            again.assertion = good
            #expect(try await sandbox.send(again).error == "insufficient_authorization")
        }
    }

    @Test func `every failed authentication reads the same`() async throws {
        try await Sandbox.run { sandbox in
            var bodies: Set<[UInt8]> = []
            for broken in Self.claims + Self.headers {
                var attempt = sandbox.startAttempt(try Device())
                try broken.apply(&attempt)
                bodies.insert(try await sandbox.send(attempt).body)
            }
            #expect(bodies.count == 1)
        }
    }

    @Test func `an Authorization header alone is answered 401 with a challenge`() async throws {
        try await Sandbox.run { sandbox in
            var attempt = sandbox.startAttempt(try Device())
            attempt.assertion = nil
            attempt["client_assertion_type"] = nil
            attempt.headers.append(("Authorization", "Basic YXBwOnM="))
            let reply = try await sandbox.send(attempt)
            #expect(reply.status == 401)
            #expect(reply.error == "invalid_client")
            #expect(reply.headers.first("WWW-Authenticate")?.hasPrefix("Basic") == true)
        }
    }

    @Test func `32 copies at once are accepted once`() async throws {
        try await Sandbox.run { sandbox in
            let device = try Device()
            let shared = sandbox.assertion()
            let text = try shared.compact()
            let attempts = (0..<32).map { _ in
                var attempt = sandbox.startAttempt(device)
                attempt.assertion = nil
                attempt.form.append(("client_assertion", text))
                return attempt
            }
            let errors = try await sandbox.sendAtOnce(attempts).map(\.error)
            #expect(errors.filter { $0 == "insufficient_authorization" }.count == 1)
            #expect(errors.filter { $0 == "invalid_client" }.count == 31)
        }
    }

    @Test func `keys that cannot be fetched are not the client's fault`() async throws {
        try await Sandbox.run(keys: StaticKeys([:])) { sandbox in
            let reply = try await sandbox.send(sandbox.startAttempt(try Device()))
            #expect(reply.status == 503)
            #expect(reply.headers.first("Retry-After") == "1")
        }
    }
}
