import JOSE
import Testing

@testable import SandboxIdP

/// Each case breaks exactly one rule of RFC 9449 §4.3 in the proof of an otherwise good token request.
@Suite struct DPoPTests {
    static let now: Int64 = 1_800_000_000

    static func claim(_ name: String, _ value: String?, _ error: String = "invalid_dpop_proof")
        -> Break<Attempt>
    {
        Break("claim \(name) = \(value ?? "absent")", error) { $0.proof?.claims[name] = value }
    }

    static func header(_ name: String, _ value: String?) -> Break<Attempt> {
        Break("header \(name) = \(value ?? "absent")", "invalid_dpop_proof") {
            $0.proof?.header[name] = value
        }
    }

    static let breaks: [Break<Attempt>] = [
        claim("jti", nil), claim("jti", "\"\""), claim("jti", "1"),
        claim("jti", "\"\(String(repeating: "x", count: 129))\""), claim("htm", nil),
        claim("htm", "\"GET\""), claim("htm", "\"post\""), claim("htu", nil),
        claim("htu", "\"https://idp.example/challenge\""),
        claim("htu", "\"http://idp.example/token\""),
        claim("htu", "\"https://evil.example/token\""),
        claim("htu", "\"https://idp.example/token/\""),
        claim("htu", "\"https://a@idp.example/token\""), claim("iat", nil),
        claim("iat", "\(now - 61)"), claim("iat", "\(now + 11)"), claim("iat", "\"\(now)\""),
        claim("nonce", nil, "use_dpop_nonce"), claim("nonce", "\"guess\"", "use_dpop_nonce"),
        claim("nonce", "\"\"", "use_dpop_nonce"), claim("nonce", "1"),
        header("typ", nil), header("typ", "\"JWT\""),
        header("typ", "\"client-authentication+jwt\""),
        header("alg", "\"none\""), header("alg", "\"HS256\""), header("alg", "\"PS256\""),
        header("jwk", nil), header("jku", "\"https://evil.example\""),
        header("crit", "[\"htm\"]"),
        Break("a private key in the header", "invalid_dpop_proof") {
            let jwk = $0.proof?.header["jwk"] ?? "{}"
            $0.proof?.header["jwk"] = jwk.dropLast() + ",\"d\":\"AA\"}"
        },
        Break("signed by another key", "invalid_dpop_proof") {
            $0.proof?.signer = try PrivateKey.generate(.ES256)
        },
        Break("no proof", "invalid_dpop_proof") { $0.proof = nil },
        Break("two proofs", "invalid_request") {
            $0.headers.append(("DPoP", try $0.proof?.compact() ?? ""))
        },
        Break("two proofs in one field", "invalid_request") {
            $0.proof?.tamper = { $0 + ", " + $0 }
        },
        Break("no JWT", "invalid_dpop_proof") { $0.proof?.tamper = { _ in "hello" } },
    ]

    @Test(arguments: breaks)
    func `a proof that breaks one rule is refused and the code stays good`(
        _ broken: Break<Attempt>
    ) async throws {
        try await Sandbox.run { sandbox in
            let (device, session, code) = try await sandbox.completed()
            var attempt = sandbox.tokenAttempt(device, session, code: code)
            try broken.apply(&attempt)
            let reply = try await sandbox.send(attempt)
            #expect(reply.status == 400)
            #expect(reply.error == broken.error)
            if broken.error == "use_dpop_nonce" { #expect(reply.nonce != nil) }
            let good = try await sandbox.send(sandbox.tokenAttempt(device, session, code: code))
            #expect(good.status == 200)
        }
    }

    @Test func `a proof works once, even with another assertion`() async throws {
        try await Sandbox.run { sandbox in
            let device = try Device()
            let first = sandbox.startAttempt(device)
            var second = sandbox.startAttempt(device)
            second.proof = first.proof
            #expect(try await sandbox.send(first).error == "insufficient_authorization")
            #expect(try await sandbox.send(second).error == "invalid_dpop_proof")
        }
    }

    @Test func `32 uses of one proof at once: one is accepted`() async throws {
        try await Sandbox.run { sandbox in
            let device = try Device()
            let proof = try sandbox.proof(device.dpop, path: "/challenge").compact()
            let attempts = (0..<32).map { _ in
                var attempt = sandbox.startAttempt(device)
                attempt.proof = nil
                attempt.headers.append(("DPoP", proof))
                return attempt
            }
            let errors = try await sandbox.sendAtOnce(attempts).map(\.error)
            #expect(errors.filter { $0 == "insufficient_authorization" }.count == 1)
            #expect(errors.filter { $0 == "invalid_dpop_proof" }.count == 31)
        }
    }

    @Test func `the start needs no nonce but refuses a wrong one (R-000-18)`() async throws {
        try await Sandbox.run { sandbox in
            var attempt = sandbox.startAttempt(try Device())
            attempt.proof?.claims["nonce"] = "\"guess\""
            let reply = try await sandbox.send(attempt)
            #expect(reply.error == "use_dpop_nonce")
            #expect(reply.nonce != nil)
        }
    }

    @Test func `a provider can demand a nonce at the start too`() async throws {
        try await Sandbox.run {
            $0.options.demandsNonceAtStart = true
        } _: { sandbox in
            let device = try Device()
            let challenge = try await sandbox.send(sandbox.startAttempt(device))
            #expect(challenge.error == "use_dpop_nonce")
            var attempt = sandbox.startAttempt(device)
            attempt.proof?.claims["nonce"] = challenge.nonce.map(JWTParts.quoted)
            #expect(try await sandbox.send(attempt).error == "insufficient_authorization")
        }
    }

    @Test func `the completion demands a nonce (R-000-18)`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            var attempt = try sandbox.completeAttempt(device, session)
            attempt.proof?.claims["nonce"] = nil
            #expect(try await sandbox.send(attempt).error == "use_dpop_nonce")
        }
    }
}
