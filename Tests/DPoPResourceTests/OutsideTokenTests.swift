import JOSE
import TestKit
import Testing

@testable import DPoPResource

/// Tokens and proofs that other people's libraries made, at `DPoPResourceVerifier`.
@Suite struct OutsideTokenTests {
    static let now = OutsideCall.now

    static let tokens: [OutsideCase] = [
        OutsideCase("another issuer", .invalidToken(.claim("iss"))) {
            $0.token.claims["iss"] = "\"https://evil.example\""
        },
        OutsideCase("an issuer with a slash", .invalidToken(.claim("iss"))) {
            $0.token.claims["iss"] = "\"https://idp.example/\""
        },
        OutsideCase("no issuer", .invalidToken(.claim("iss"))) { $0.token.claims["iss"] = nil },
        OutsideCase("another audience", .invalidToken(.claim("aud"))) {
            $0.token.claims["aud"] = "\"https://other.example\""
        },
        OutsideCase("other audiences", .invalidToken(.claim("aud"))) {
            $0.token.claims["aud"] = "[\"https://other.example\",\"app\"]"
        },
        OutsideCase("an audience that is part of one", .invalidToken(.claim("aud"))) {
            $0.token.claims["aud"] = "\"https://api.example/\""
        },
        OutsideCase("an audience beside a number", .invalidToken(.claim("aud"))) {
            $0.token.claims["aud"] = "[\"https://api.example\",7]"
        },
        OutsideCase("no exp", .invalidToken(.claim("exp"))) { $0.token.claims["exp"] = nil },
        OutsideCase("exp now", .invalidToken(.expired)) { $0.token.claims["exp"] = "\(now)" },
        OutsideCase("exp a negative number", .invalidToken(.claim("exp"))) {
            $0.token.claims["exp"] = "-1"
        },
        OutsideCase("iat ahead", .invalidToken(.claim("iat"))) {
            $0.token.claims["iat"] = "\(now + 11)"
        },
        OutsideCase("nbf ahead", .invalidToken(.claim("nbf"))) {
            $0.token.claims["nbf"] = "\(now + 11)"
        },
        OutsideCase("no sub", .invalidToken(.claim("sub"))) { $0.token.claims["sub"] = nil },
        OutsideCase("no client", .invalidToken(.claim("client_id"))) {
            $0.token.claims["client_id"] = nil
        },
        OutsideCase("scopes as an array", .invalidToken(.claim("scope"))) {
            $0.token.claims["scope"] = "[\"accounts\"]"
        },
        OutsideCase("a bearer token", .invalidToken(.claim("cnf"))) {
            $0.token.claims["cnf"] = nil
        },
        OutsideCase("bound to a certificate", .invalidToken(.claim("cnf"))) {
            $0.token.claims["cnf"] = "{\"x5t#S256\":\"@jkt p256:install\"}"
        },
        OutsideCase("bound to another key", .invalidToken(.anotherKey)) {
            $0.token.claims["cnf"] = "{\"jkt\":\"@jkt p256:other\"}"
        },
        OutsideCase("another signer under a known kid", .invalidToken(.signature)) {
            $0.token.key = "p256:evil"
        },
        OutsideCase("a kid nobody published", .invalidToken(.signature)) {
            $0.token.header["kid"] = "\"p256:evil\""
            $0.token.key = "p256:evil"
        },
        OutsideCase("the kid of a key of the other kind", .invalidToken(.signature)) {
            $0.token.header["kid"] = "\"rsa:issuer\""
        },
        OutsideCase("its own key in the header", .invalidToken(.malformed(.headerMember("jwk")))) {
            $0.token.key = "p256:evil"
            $0.token.header["jwk"] = "\"@jwk p256:evil\""
        },
        OutsideCase("an ID token", .invalidToken(.type)) { $0.token.header["typ"] = "\"JWT\"" },
        OutsideCase("a proof as a token", .invalidToken(.type)) {
            $0.token.header["typ"] = "\"dpop+jwt\""
        },
        OutsideCase("alg none", .invalidToken(.malformed(.notThreeSegments))) {
            $0.token.alg = "none"
        },
        OutsideCase("the public key as a secret", .invalidToken(.malformed(.algorithm))) {
            $0.token.alg = "HS256"
        },
        OutsideCase("RS256", .invalidToken(.malformed(.algorithm))) {
            $0.token.alg = "RS256"
            $0.token.key = "rsa:issuer"
        },
        OutsideCase("ES384", .invalidToken(.malformed(.algorithm))) {
            $0.token.alg = "ES384"
            $0.token.key = "p384:issuer"
        },
    ]

    static let proofs: [OutsideCase] = [
        OutsideCase("another method", .invalidProof(.rejected(.method))) {
            $0.proof.claims["htm"] = "\"POST\""
        },
        OutsideCase("a method in small letters", .invalidProof(.rejected(.method))) {
            $0.proof.claims["htm"] = "\"get\""
        },
        OutsideCase("another path", .invalidProof(.rejected(.uri))) {
            $0.proof.claims["htu"] = "\"https://api.example/transfers\""
        },
        OutsideCase("another host", .invalidProof(.rejected(.uri))) {
            $0.proof.claims["htu"] = "\"https://evil.example/accounts\""
        },
        OutsideCase("no TLS", .invalidProof(.rejected(.uri))) {
            $0.proof.claims["htu"] = "\"http://api.example/accounts\""
        },
        OutsideCase("made 61 s ago", .invalidProof(.rejected(.time))) {
            $0.proof.claims["iat"] = "\(now - 61)"
        },
        OutsideCase("made 11 s from now", .invalidProof(.rejected(.time))) {
            $0.proof.claims["iat"] = "\(now + 11)"
        },
        OutsideCase("no jti", .invalidProof(.rejected(.claim("jti")))) {
            $0.proof.claims["jti"] = nil
        },
        OutsideCase("no ath", .invalidProof(.rejected(.claim("ath")))) {
            $0.proof.claims["ath"] = nil
        },
        OutsideCase("the ath of another token", .invalidProof(.rejected(.accessTokenHash))) {
            $0.proof.claims["ath"] = "\"fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo\""
        },
        OutsideCase("another type", .invalidProof(.rejected(.type))) {
            $0.proof.header["typ"] = "\"JWT\""
        },
        OutsideCase(
            "the private key in the header", .invalidProof(.rejected(.key(.privateMember("d"))))
        ) {
            $0.proof.header["jwk"] = "\"@private p256:install\""
        },
        OutsideCase("signed by another key than it shows", .invalidProof(.rejected(.signature))) {
            $0.proof.key = "p256:other"
        },
        OutsideCase("a key that is not the token's", .invalidToken(.anotherKey)) {
            $0.proof.key = "p256:other"
            $0.proof.header["jwk"] = "\"@jwk p256:other\""
        },
        OutsideCase("no proof", .invalidProof(.missing)) {
            $0.fields = { token, _ in [("Authorization", "DPoP \(token)")] }
        },
        OutsideCase("two proofs", .invalidProof(.several)) {
            $0.fields = { [("Authorization", "DPoP \($0)"), ("DPoP", $1), ("dpop", $1)] }
        },
        OutsideCase("no credentials", .noCredentials) { $0.fields = { [("DPoP", $1)] } },
        OutsideCase("as Bearer, with its proof", .invalidToken(.bearer)) {
            $0.fields = { [("Authorization", "bearer \($0)"), ("DPoP", $1)] }
        },
        OutsideCase("as DPoP and as Bearer", .malformedRequest) {
            $0.fields = {
                [("Authorization", "DPoP \($0)"), ("Authorization", "Bearer \($0)"), ("DPoP", $1)]
            }
        },
        OutsideCase("in the query too", .malformedRequest) { $0.target += "&access_token=x" },
        OutsideCase("in the query, escaped", .malformedRequest) {
            $0.target += "&access%5Ftoken=x"
        },
    ]

    static let cases = tokens + proofs

    /// Everything in one go: a process for each case would cost minutes.
    static let made = Task { () async throws -> (keys: JWKSet, answers: [JSONValue]) in
        let answers = try await Oracle.ask(
            "access_tokens.py",
            ["{\"jwks\":[\"p256:issuer\",\"rsa:issuer\"]}"] + cases.map(\.call.json)
                + good.map(\.json))
        return (try JWKSet(answers[0]), Array(answers.dropFirst()))
    }

    static let good: [OutsideCall] = {
        var calls: [OutsideCall] = []
        for library in ["PyJWT", "joserfc"] {
            for kind in ["p256", "rsa"] {
                var call = OutsideCall(kind)
                call.library = library
                calls.append(call)
            }
        }
        var inList = OutsideCall()
        inList.token.claims["aud"] = "[\"other\",\"https://api.example\"]"
        inList.token.header["typ"] = "\"application/AT+JWT\""
        inList.token.header["kid"] = nil
        calls.append(inList)
        return calls
    }()

    func verify(_ call: OutsideCall, _ answer: JSONValue, _ keys: JWKSet)
        async throws(ResourceRefusal)
        -> GrantedAccess
    {
        let configuration: DPoPResourceConfiguration
        do {
            configuration = try DPoPResourceConfiguration(
                issuer: "https://idp.example", audience: "https://api.example")
        } catch { throw .malformedRequest }
        let verifier = DPoPResourceVerifier(
            configuration, keys: FixedIssuerKeys(keys), nonces: nil)
        let request = try call.request(
            answer["token"]?.string ?? "", answer["proof"]?.string ?? "")
        return try await verifier.verify(request, requiredScope: "accounts", now: Self.now)
    }

    @Test(arguments: good.indices)
    func `R-000-80 what PyJWT and joserfc make by the rules is served`(index: Int) async throws {
        let (keys, answers) = try await Self.made.value
        let access = try await verify(
            Self.good[index], answers[Self.cases.count + index], keys)
        #expect(access.token.subject == "u")
        #expect(access.token.scopes == ["openid", "accounts"])
        #expect(access.newNonce == nil)
    }

    @Test(arguments: cases.indices)
    func `R-000-80 and R-000-81: what they make against one rule is refused for that rule`(
        index: Int
    ) async throws {
        let (keys, answers) = try await Self.made.value
        let broken = Self.cases[index]
        await #expect(throws: broken.refusal, "\(broken.testDescription)") {
            try await verify(broken.call, answers[index], keys)
        }
    }
}
