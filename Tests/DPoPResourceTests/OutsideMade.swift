import JOSE
import TestKit
import Testing

@testable import DPoPResource

/// A JWT that `Tests/Oracle/access_tokens.py` makes. Values are JSON texts; "@jkt", "@jwk", "@private" and "@ath" are filled in there.
struct OutsideJWT: Sendable {
    var key: String
    var alg: String
    var header: [String: String]
    var claims: [String: String]

    var json: String {
        "{\"key\":\"\(key)\",\"alg\":\"\(alg)\",\"header\":\(object(header)),\"claims\":\(object(claims))}"
    }

    private func object(_ members: [String: String]) -> String {
        "{"
            + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
            .joined(separator: ",") + "}"
    }
}

/// One call of an API, of which a case breaks one thing.
struct OutsideCall: Sendable {
    static let now: Int64 = 1_800_000_000

    var library = "PyJWT"
    var token: OutsideJWT
    var proof: OutsideJWT
    var method = "GET"
    var target = "/accounts?since=7"
    /// Both texts, made, to the header fields of the request.
    var fields: @Sendable (_ token: String, _ proof: String) -> [(name: String, value: String)] = {
        [("authorization", "DPoP \($0)"), ("dpop", $1)]
    }

    /// - Parameter kind: `p256` or `rsa`.
    init(_ kind: String = "p256") {
        let alg = kind == "p256" ? "ES256" : "PS256"
        token = OutsideJWT(
            key: "\(kind):issuer", alg: alg,
            header: ["typ": "\"at+jwt\"", "kid": "\"\(kind):issuer\""],
            claims: [
                "iss": "\"https://idp.example\"", "sub": "\"u\"", "client_id": "\"app\"",
                "aud": "\"https://api.example\"", "exp": "\(Self.now + 300)",
                "iat": "\(Self.now)", "scope": "\"openid accounts\"",
                "cnf": "{\"jkt\":\"@jkt \(kind):install\"}",
            ])
        proof = OutsideJWT(
            key: "\(kind):install", alg: alg,
            header: ["typ": "\"dpop+jwt\"", "jwk": "\"@jwk \(kind):install\""],
            claims: [
                "jti": "\"e1j3V_bKic8-LAEB\"", "htm": "\"GET\"", "iat": "\(Self.now)",
                "htu": "\"https://api.example/accounts\"", "ath": "\"@ath\"",
            ])
    }

    var json: String {
        "{\"library\":\"\(library)\",\"token\":\(token.json),\"proof\":\(proof.json)}"
    }

    func request(_ token: String, _ proof: String) throws(ResourceRefusal) -> ResourceRequest {
        try ResourceRequest(
            method: method, origin: "https://api.example", target: target,
            fields: fields(token, proof))
    }
}

/// A call that breaks one rule, and what it is told.
struct OutsideCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let refusal: ResourceRefusal
    let call: OutsideCall

    init(
        _ description: String, _ refusal: ResourceRefusal,
        _ change: (inout OutsideCall) -> Void
    ) {
        testDescription = description
        self.refusal = refusal
        var call = OutsideCall()
        change(&call)
        self.call = call
    }
}
