import HTTPClient
import JOSE
import Testing

@testable import SandboxIdP

/// Each case breaks exactly one rule of R-000-80 to R-000-82 in an otherwise good call of the demo API.
@Suite struct ResourceTests {
    static let breaks: [Break<Attempt>] = [
        Break("no credentials", nil, status: 401) { $0.headers = [] },
        Break("another scheme", nil, status: 401) {
            $0.headers = [("Authorization", "Basic YTpi")]
        },
        Break("a bound token as Bearer (R-000-81)", "invalid_token", status: 401) {
            $0.headers[0].value = $0.headers[0].value.replacing("DPoP ", with: "Bearer ")
        },
        Break("a token in the query", "invalid_request") { $0.query = "?access_token=x" },
        Break("two words of token", "invalid_request") { $0.headers[0].value += " x" },
        Break("no token", "invalid_request") { $0.headers[0].value = "DPoP " },
        Break("an altered token", "invalid_token", status: 401) { $0.headers[0].value += "A" },
        Break("not a token", "invalid_token", status: 401) { $0.headers[0].value = "DPoP x.y.z" },
        Break("no proof", "invalid_dpop_proof", status: 401) { $0.proof = nil },
        Break("another method", "invalid_dpop_proof", status: 401) {
            $0.proof?.claims["htm"] = "\"POST\""
        },
        Break("another URI", "invalid_dpop_proof", status: 401) {
            $0.proof?.claims["htu"] = "\"https://idp.example/api/transfers\""
        },
        Break("no ath", "invalid_dpop_proof", status: 401) { $0.proof?.claims["ath"] = nil },
        Break("another ath", "invalid_dpop_proof", status: 401) {
            $0.proof?.claims["ath"] = JWTParts.quoted(DPoPProof.accessTokenHash("other"))
        },
        Break("an old proof", "invalid_dpop_proof", status: 401) {
            $0.proof?.claims["iat"] = "\(1_800_000_000 - 61)"
        },
        Break("no nonce (R-000-82)", "use_dpop_nonce", status: 401) {
            $0.proof?.claims["nonce"] = nil
        },
        Break("a wrong nonce (R-000-82)", "use_dpop_nonce", status: 401) {
            $0.proof?.claims["nonce"] = "\"guess\""
        },
        Break("another key than cnf.jkt", "invalid_token", status: 401) {
            let key = try PrivateKey.generate(.ES256)
            $0.proof?.signer = key
            $0.proof?.header["jwk"] = key.publicJWK.jsonText(asSigningKey: false)
        },
    ]

    @Test(arguments: breaks)
    func `a call that breaks one rule is refused (R-000-80, R-000-81, R-000-82)`(
        _ broken: Break<Attempt>
    ) async throws {
        try await Sandbox.run { sandbox in
            let (device, _, tokens) = try await sandbox.signedIn()
            let nonce = try await sandbox.apiNonce(device, tokens.access)
            var attempt = sandbox.apiAttempt(device, token: tokens.access, nonce: nonce)
            try broken.apply(&attempt)
            let reply = try await sandbox.send(attempt)
            #expect(reply.status == broken.status)
            #expect(reply.error == broken.error)
            let challenge = try #require(reply.headers.first("WWW-Authenticate"))
            #expect(challenge.hasPrefix("DPoP "))
            #expect(challenge.contains("algs=\"ES256 PS256\""))
            #expect(challenge.contains("error=") == (broken.error != nil))
            #expect((reply.nonce != nil) == (broken.error == "use_dpop_nonce"))
        }
    }

    @Test func `a proof works once`() async throws {
        try await Sandbox.run { sandbox in
            let (device, _, tokens) = try await sandbox.signedIn()
            let nonce = try await sandbox.apiNonce(device, tokens.access)
            let attempt = sandbox.apiAttempt(device, token: tokens.access, nonce: nonce)
            #expect(try await sandbox.send(attempt).status == 200)
            #expect(try await sandbox.send(attempt).error == "invalid_dpop_proof")
        }
    }

    @Test func `the authorization server's nonces are not the API's`() async throws {
        try await Sandbox.run { sandbox in
            let (device, session, tokens) = try await sandbox.signedIn()
            let reply = try await sandbox.send(
                sandbox.apiAttempt(device, token: tokens.access, nonce: session.nonce))
            #expect(reply.error == "use_dpop_nonce")
        }
    }

    @Test(arguments: [(299, 200), (300, 401)])
    func `an access token ends with exp`(age: Int64, status: Int) async throws {
        try await Sandbox.run { sandbox in
            let (device, _, tokens) = try await sandbox.signedIn()
            sandbox.clock.advance(age)
            var reply = try await sandbox.send(
                sandbox.apiAttempt(device, token: tokens.access, nonce: nil))
            if reply.error == "use_dpop_nonce" {
                reply = try await sandbox.send(
                    sandbox.apiAttempt(device, token: tokens.access, nonce: reply.nonce))
            }
            #expect(reply.status == status)
        }
    }

    @Test func `a scope the API wants and the token lacks is named`() async throws {
        try await Sandbox.run { sandbox in
            let (device, _, tokens) = try await sandbox.signedIn()
            let nonce = try await sandbox.apiNonce(device, tokens.access)
            let reply = try await sandbox.send(
                sandbox.apiAttempt(
                    device, token: tokens.access, nonce: nonce, path: "/api/transfers"))
            #expect(reply.status == 403)
            #expect(
                reply.headers.first("WWW-Authenticate")?.contains(
                    #"error="insufficient_scope", scope="transfers""#) == true)
        }
    }

    @Test func `a POST is served with its body`() async throws {
        try await Sandbox.run { sandbox in
            let (device, _, tokens) = try await sandbox.signedIn()
            let nonce = try await sandbox.apiNonce(device, tokens.access)
            var attempt = sandbox.apiAttempt(
                device, token: tokens.access, nonce: nonce, method: "POST")
            attempt.body = Array("hello".utf8)
            let reply = try await sandbox.send(attempt)
            #expect(reply.status == 201)
            #expect(reply.json?["received_octets"]?.integer == 5)
        }
    }

    @Test func `scheme names have no letter case`() async throws {
        try await Sandbox.run { sandbox in
            let (device, _, tokens) = try await sandbox.signedIn()
            let reply = try await sandbox.api(device, tokens.access) {
                $0.headers[0].value = "dpop \(tokens.access)"
            }
            #expect(reply.status == 200)
        }
    }
}
