import JOSE
import Testing

@testable import SandboxIdP

@Suite struct PortalTests {
    static func claim(_ name: String, _ value: String?) -> Break<JWTParts> {
        Break("claim \(name) = \(value ?? "absent")", "signature_rejected") {
            $0.claims[name] = value
        }
    }

    static let breaks: [Break<JWTParts>] = [
        claim("iss", nil), claim("iss", "\"x\""), claim("aud", "\"https://idp.example/portal\""),
        claim("aud", "[\"https://idp.example\"]"), claim("act", "\"abort\""),
        claim("act", "\"complete\""), claim("act", nil), claim("sid", "\"x\""),
        claim("exp", nil), claim("exp", "1800000000"), claim("exp", "1800000061"),
        claim("exp", "\"1800000060\""), claim("iat", nil), claim("iat", "1800000011"),
        claim("jti", nil), claim("jti", "\"\""),
        Break("another type", "signature_rejected") { $0.header["typ"] = "\"dpop+jwt\"" },
        Break("no type", "signature_rejected") { $0.header["typ"] = nil },
        Break("another algorithm", "signature_rejected") { $0.header["alg"] = "\"HS256\"" },
        Break("both kid and jwk", "signature_rejected") {
            $0.header["jwk"] = $0.signer.publicJWK.jsonText(asSigningKey: false)
        },
        Break("neither kid nor jwk", "signature_rejected") { $0.header["kid"] = nil },
        Break("a private jwk", "signature_rejected") {
            $0.header["kid"] = nil
            $0.header["jwk"] =
                $0.signer.publicJWK.jsonText(asSigningKey: false).dropLast() + ",\"d\":\"AA\"}"
        },
        Break("another key's signature", "signature_rejected") {
            $0.signer = try PrivateKey.generate(.ES256)
        },
        Break("a key nobody enrolled", "ceremony_unavailable", status: 404) {
            let key = try PrivateKey.generate(.ES256)
            $0.signer = key
            $0.header["kid"] = JWTParts.quoted(key.publicJWK.thumbprint)
            $0.claims["iss"] = JWTParts.quoted(key.publicJWK.thumbprint)
        },
    ]

    @Test(arguments: breaks)
    func `a device request that breaks one rule is refused (R-100-50)`(_ broken: Break<JWTParts>)
        async throws
    {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            let reply = try await sandbox.send(
                sandbox.portalAttempt(device, "face_token", sid: session.sid) {
                    try? broken.apply(&$0)
                })
            #expect(reply.status == broken.status)
            #expect(reply.error == broken.error)
        }
    }

    @Test func `a device request works once`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            let first = try sandbox.portalAttempt(device, "face_token", sid: session.sid)
            var second = try sandbox.portalAttempt(device, "face_token", sid: session.sid)
            second.body = first.body
            #expect(try await sandbox.send(first).status == 200)
            #expect(try await sandbox.send(second).error == "signature_rejected")
        }
    }

    @Test func `a lost fetch can be run again with a new request (R-000-21)`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            for _ in 0..<2 {
                let reply = try await sandbox.send(
                    sandbox.portalAttempt(device, "face_token", sid: session.sid))
                #expect(reply.status == 200)
            }
        }
    }

    /// What stands in the way of a face token without saying so.
    enum Obstacle: String, CaseIterable {
        case nobodyHasTheAddress, throwawayKey, anotherPersonsKey, unknownSession, aborted, expired,
            completed
    }

    @Test(arguments: Obstacle.allCases)
    func `every obstacle gets the same 404 (R-000-14, R-000-05)`(_ obstacle: Obstacle) async throws
    {
        try await Sandbox.run { sandbox in
            let (device, open) = try await sandbox.started()
            var session = open
            switch obstacle {
            case .nobodyHasTheAddress:
                var stranger = device
                stranger.email = "nobody@example.com"
                session = try await sandbox.start(stranger)
            case .unknownSession: session = Session(authSession: "", sid: "unknown", nonce: "")
            case .aborted:
                _ = try await sandbox.send(
                    sandbox.portalAttempt(device, "abort", sid: session.sid))
            case .expired: sandbox.clock.advance(300)
            case .completed:
                _ = try await sandbox.send(sandbox.completeAttempt(device, session))
            case .throwawayKey, .anotherPersonsKey: break
            }
            let other = try Device(email: "grace@example.com")
            try await sandbox.enrol(other)
            let throwaway = try PrivateKey.generate(.ES256)
            let reply = try await sandbox.send(
                sandbox.portalAttempt(device, "face_token", sid: session.sid) { request in
                    if obstacle == .throwawayKey {
                        request.signer = throwaway
                        request.header["kid"] = nil
                        request.header["jwk"] = throwaway.publicJWK.jsonText(asSigningKey: false)
                        request.claims["iss"] = JWTParts.quoted(throwaway.publicJWK.thumbprint)
                    }
                    if obstacle == .anotherPersonsKey {
                        request.signer = other.enrolled
                        request.header["kid"] = JWTParts.quoted(other.keyId)
                        request.claims["iss"] = JWTParts.quoted(other.keyId)
                    }
                })
            #expect(reply.status == 404)
            let body =
                #"{"error":"ceremony_unavailable","error_description":"The ceremony is not available."}"#
            #expect(reply.body == Array(body.utf8))
        }
    }

    @Test func `a throwaway signature that does not hold is refused`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            let throwaway = try PrivateKey.generate(.ES256)
            let reply = try await sandbox.send(
                sandbox.portalAttempt(device, "face_token", sid: session.sid) { request in
                    request.header["kid"] = nil
                    request.header["jwk"] = throwaway.publicJWK.jsonText(asSigningKey: false)
                    request.claims["iss"] = JWTParts.quoted(throwaway.publicJWK.thumbprint)
                })
            #expect(reply.error == "signature_rejected")
        }
    }

    @Test(arguments: ["face_token", "abort"])
    func `the portal wants the session's own key (R-000-13)`(action: String) async throws {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            var attempt = try sandbox.portalAttempt(device, action, sid: session.sid)
            attempt.proof = nil
            #expect(try await sandbox.send(attempt).error == "invalid_dpop_proof")
            attempt.proof = sandbox.proof(try PrivateKey.generate(.ES256), path: attempt.path)
            #expect(try await sandbox.send(attempt).error == "invalid_dpop_proof")
        }
    }

    @Test func `an abort ends the session, and again changes nothing`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            for _ in 0..<2 {
                let reply = try await sandbox.send(
                    sandbox.portalAttempt(device, "abort", sid: session.sid))
                #expect(reply.status == 204)
            }
            let reply = try await sandbox.send(sandbox.completeAttempt(device, session))
            #expect(reply.error == "invalid_session")
        }
    }

    @Test func `an abort needs a reason`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session) = try await sandbox.started()
            let reply = try await sandbox.send(
                sandbox.portalAttempt(device, "abort", sid: session.sid) {
                    $0.claims["fail_reason"] = nil
                })
            #expect(reply.error == "signature_rejected")
            #expect(try await sandbox.send(sandbox.completeAttempt(device, session)).status == 200)
        }
    }

    @Test func `an abort after the exchange revokes what it gave`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session, tokens) = try await sandbox.signedIn()
            _ = try await sandbox.send(sandbox.portalAttempt(device, "abort", sid: session.sid))
            let reply = try await sandbox.send(
                sandbox.refreshAttempt(device, session, token: try #require(tokens.refresh)))
            #expect(reply.error == "invalid_grant")
        }
    }

    @Test func `an abort before the exchange voids the code`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session, code) = try await sandbox.completed()
            _ = try await sandbox.send(sandbox.portalAttempt(device, "abort", sid: session.sid))
            let reply = try await sandbox.send(sandbox.tokenAttempt(device, session, code: code))
            #expect(reply.error == "invalid_grant")
        }
    }

    static let enrolmentBodies = [
        "", "[]", "{", #"{"email":"a@b.example","face_token":"f"}"#,
        #"{"email":"a","face_token":"f","jwk":{}}"#,
        #"{"email":"a@b.example","email":"a@b.example"}"#,
    ]

    @Test(arguments: enrolmentBodies)
    func `a malformed enrolment is refused`(body: String) async throws {
        try await Sandbox.run { sandbox in
            let reply = try await sandbox.send(
                Attempt(
                    path: "/sandbox/enrolments", body: Array(body.utf8),
                    contentType: "application/json"))
            #expect(reply.error == "invalid_request")
        }
    }

    @Test func `the same key again keeps its ids, and another address cannot have it`() async throws
    {
        try await Sandbox.run { sandbox in
            var device = try Device()
            let first = try await sandbox.enrol(device)
            let second = try await sandbox.enrol(device, faceToken: "face-9")
            #expect(first.text("key_id") == device.keyId)
            #expect(first.text("device_id") == second.text("device_id"))
            device.email = "grace@example.com"
            #expect(try await sandbox.send(sandbox.enrolAttempt(device)).error == "invalid_request")
        }
    }
}
