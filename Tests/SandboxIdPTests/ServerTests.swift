import HTTPClient
import JOSE
import Testing

@testable import SandboxIdP

@Suite struct ServerTests {
    @Test(arguments: [Path.openIdConfiguration, Path.oauthMetadata])
    func `the metadata names every endpoint (R-100-41)`(path: String) async throws {
        try await Sandbox.run { sandbox in
            let reply = try await sandbox.send(
                Attempt(method: "GET", path: path, contentType: nil))
            let json = try #require(reply.json)
            #expect(json["issuer"]?.string == Sandbox.issuer)
            for (name, path) in [
                ("authorization_challenge_endpoint", "/challenge"), ("token_endpoint", "/token"),
                ("revocation_endpoint", "/revoke"), ("jwks_uri", "/jwks"),
                ("device_portal_endpoint", "/portal"),
            ] {
                #expect(json[name]?.string == Sandbox.issuer + path)
            }
            #expect(
                json["dpop_signing_alg_values_supported"]?.array?.compactMap(\.string)
                    == ["ES256", "PS256"])
            #expect(json["require_pushed_authorization_requests"]?.bool == false)
        }
    }

    @Test(arguments: [
        ("https://idp.example/t1", "/.well-known/oauth-authorization-server/t1", true),
        ("https://idp.example/t1", "/t1/.well-known/openid-configuration", true),
        ("https://idp.example/t1", "/.well-known/openid-configuration", false),
        ("https://idp.example/t1/", "/t1/token", true),
        ("https://idp.example/t1", "/t1token", false),
        ("https://idp.example/", "/token", true),
    ])
    func `routes lie below the issuer's path`(issuer: String, path: String, isFound: Bool) throws {
        let uris = try #require(EndpointURIs(issuer: issuer))
        #expect((Route(path: path, basePath: uris.basePath) != nil) == isFound)
    }

    @Test(arguments: [
        "/", "/nothing", "/token/", "/portal/ceremonies/x", "/portal/ceremonies//face-token",
        "/portal/ceremonies/x/face-token/", "/portal/ceremonies/a%2Fb/abort", "/api", "/TOKEN",
    ])
    func `another path is 404`(path: String) async throws {
        try await Sandbox.run { sandbox in
            let reply = try await sandbox.send(Attempt(path: path))
            #expect(reply.status == 404)
        }
    }

    @Test(arguments: ["/challenge", "/token", "/revoke", "/sandbox/enrolments"])
    func `another method is 405 with Allow`(path: String) async throws {
        try await Sandbox.run { sandbox in
            let reply = try await sandbox.send(
                Attempt(method: "GET", path: path, contentType: nil))
            #expect(reply.status == 405)
            #expect(reply.headers.first("Allow") == "POST")
        }
    }

    @Test(arguments: [nil, "text/plain", "application/json", "application/x-www-form-urlencoded2"])
    func `another content type is 415`(type: String?) async throws {
        try await Sandbox.run { sandbox in
            var attempt = sandbox.startAttempt(try Device())
            attempt.contentType = type
            #expect(try await sandbox.send(attempt).status == 415)
        }
    }

    @Test func `a content type may have parameters and capitals`() async throws {
        try await Sandbox.run { sandbox in
            var attempt = sandbox.startAttempt(try Device())
            attempt.contentType = "Application/X-WWW-Form-Urlencoded; charset=UTF-8"
            #expect(try await sandbox.send(attempt).error == "insufficient_authorization")
        }
    }

    @Test func `a body over the limit is 413`() async throws {
        try await Sandbox.run { sandbox in
            var attempt = sandbox.startAttempt(try Device())
            attempt["scope"] = String(repeating: "x", count: Route.bodyLimit)
            #expect(try await sandbox.send(attempt).status == 413)
        }
    }

    @Test func `every answer of the protocol forbids caching`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session, code) = try await sandbox.completed()
            let replies = [
                try await sandbox.send(sandbox.tokenAttempt(device, session, code: code)),
                try await sandbox.send(sandbox.tokenAttempt(device, session, code: "x")),
                try await sandbox.send(Attempt(path: "/challenge")),
                try await sandbox.send(sandbox.revokeAttempt(device, token: "x")),
                try await sandbox.send(
                    sandbox.portalAttempt(device, "face_token", sid: session.sid)),
                try await sandbox.send(
                    Attempt(method: "GET", path: "/api/accounts", contentType: nil)),
            ]
            for reply in replies { #expect(reply.headers.values("Cache-Control") == ["no-store"]) }
        }
    }

    @Test func `each request leaves one event, and no event holds a secret`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session, tokens) = try await sandbox.signedIn()
            _ = try await sandbox.api(device, tokens.access)
            var canaries = [
                tokens.access, try #require(tokens.refresh), try #require(tokens.id),
                session.authSession, session.nonce, sandbox.verifier, device.email, "face-1",
                "face-2",
            ]
            for broken in ClientAssertionTests.claims + ClientAssertionTests.headers
                + ClientAssertionTests.shapes
            {
                var attempt = sandbox.startAttempt(device)
                try broken.apply(&attempt)
                attempt["scope"] = "canary-scope"
                canaries.append(try attempt.proof?.compact() ?? "none")
                canaries.append(try attempt.assertion?.compact() ?? "none")
                _ = try await sandbox.send(attempt)
            }
            canaries += ["canary-scope", "evil.example"]
            let lines = sandbox.events.all.map(\.line)
            #expect(lines.count > ClientAssertionTests.claims.count)
            let log = lines.joined(separator: "\n")
            for canary in canaries { #expect(!log.contains(canary)) }
            for line in lines { #expect((try? JSONValue(parsing: Array(line.utf8))) != nil) }
        }
    }
}
