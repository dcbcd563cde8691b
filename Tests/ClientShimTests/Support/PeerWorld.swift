import JOSE
import Synchronization
import TestKit
import Testing

@testable import ClientShim

/// A device on the real network and clock, and the strict provider of Tests/Peers/Authlib beside it.
final class PeerWorld: Sendable {
    let authn: Authn
    let provider: SigningAssertions
    let userinfoURL: String

    /// The provider did something else than was asked for.
    struct Fault: Error {
        let reason: String
    }

    private let process: RunningProcess
    private let directory: TemporaryDirectory
    private let store = InMemorySecureStore()
    private let transport: CurlTransport
    private let issuer: String
    private let authorizationEndpoint: String

    private static let clientId = "app1"
    private static let redirect = "https://app.example.test/cb"

    init() async throws {
        directory = try TemporaryDirectory()
        let provider = try SigningAssertions()
        self.provider = provider
        let certificate = directory.path + "/tls.pem"
        let key = directory.path + "/tls.key"
        _ = try await runChecked(
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                "-nodes",
                "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=provider",
                "-addext", "subjectAltName=IP:127.0.0.1",
            ], input: [])
        let keys = try directory.write(Array(provider.keySet.utf8), to: "jwks.json")
        process = try RunningProcess(
            Oracle.command(
                "../Peers/Authlib/op.py",
                ["--port", "0", "--jwks-file", keys, "--tls-cert", certificate, "--tls-key", key]),
            environment: ["PATH": "/usr/bin:/bin"])
        let line = try await process.line { $0.hasPrefix("{") }
        let info = try JSONValue(parsing: Array(line.utf8), maximumDepth: 16)
        issuer = try #require(info["issuer"]?.string)
        authorizationEndpoint = try #require(info["authorization_endpoint"]?.string)
        userinfoURL = try #require(info["userinfo_endpoint"]?.string)
        transport = CurlTransport(caFile: certificate)
        authn = try Authn(
            environment: AuthnEnvironment(
                keyStore: InMemoryKeyStore(), store: store, transport: transport,
                faceEngine: ScriptedFaceEngine(verdicts: [])))
        authn.setClientAssertionProvider(provider)
    }

    /// The stored session.
    var record: SessionRecord {
        get throws {
            try #require(
                try store.read(SessionVault.recordName).flatMap(SessionRecord.init(bytes:)))
        }
    }

    /// Gets a code as a browser would, redeems it as the sign-in flow does, and stores the session.
    func signIn() async throws {
        let key = try authn.core.installKeys.ensure()
        let verifier = String(repeating: "v", count: 43)
        let challenge = Base64URL.encode(SHA256.hash(verifier.utf8))
        let query =
            "response_type=code&client_id=\(Self.clientId)&redirect_uri=https%3A%2F%2Fapp.example.test%2Fcb"
            + "&scope=openid%20offline_access&state=s&nonce=n&code_challenge=\(challenge)"
            + "&code_challenge_method=S256&dpop_jkt=\(key.dpopJkt)"
        let answer = try await send(
            HTTPRequest(method: "GET", url: "\(authorizationEndpoint)?\(query)"))
        let location = try #require(answer.values("Location").first)
        let code = try #require(location.split(separator: "code=").dropFirst().first)
            .prefix { $0 != "&" }
        let outcome = try await post([
            ("grant_type", "authorization_code"), ("code", String(code)),
            ("code_verifier", verifier), ("redirect_uri", Self.redirect),
        ])
        guard case .answer(.served(let json)) = outcome else {
            throw Fault(reason: "the code was not redeemed: \(outcome)")
        }
        let now = authn.core.environment.clock.now()
        let grant = try TokenGrant(
            json,
            TokenGrant.Context(
                check: IDTokenCheck(
                    issuer: issuer, clientId: Self.clientId, nonce: Secret("n"), subject: nil,
                    now: now),
                scope: "openid offline_access", dpopJkt: key.dpopJkt, needsIDToken: true, now: now))
        _ = try await authn.core.vault.replace(
            with: SessionRecord(
                grant, grantId: "grant", issuer: issuer, clientId: Self.clientId,
                dpopJkt: key.dpopJkt))
    }

    /// One call of the token endpoint, with an assertion and a proof, repeated once for a nonce.
    func post(_ members: [(String, String)]) async throws -> EndpointCaller.Outcome {
        let key = try authn.core.installKeys.ensure()
        let caller = authn.core.caller(
            flow: "sign-in", issuer: issuer, clientId: Self.clientId, key: key, provider: provider)
        return await caller.post(
            EndpointCaller.Call(
                step: "token", endpoint: .token, contentType: FormBody.contentType,
                authenticates: true
            ) { assertion in
                var form = FormBody()
                for (name, value) in members { form.add(name, value) }
                form.addClient(Self.clientId, assertion)
                return form.bytes
            })
    }

    func userinfo(_ api: DPoPHTTP) async throws -> HTTPAnswer {
        try await api.data(for: HTTPRequest(method: "GET", url: userinfoURL))
    }

    func send(_ request: HTTPRequest) async throws -> HTTPAnswer {
        guard case .answer(let answer) = await transport.send(request) else {
            throw Fault(reason: "no answer from \(request.url)")
        }
        return answer
    }

    /// How many assertions the provider took and refused.
    func assertions() async throws -> (accepted: Int, refused: Int) {
        let answer = try await send(HTTPRequest(method: "GET", url: issuer + "/counts"))
        let counts = try JSONValue(parsing: answer.body, maximumDepth: 4)
        return (
            Int(counts["assertions_ok"]?.integer ?? -1),
            Int(counts["assertions_refused"]?.integer ?? -1)
        )
    }
}

/// Assertions signed for real, with a key the provider knows.
final class SigningAssertions: ClientAssertionProvider {
    private let key: PrivateKey
    private let made = Mutex(0)

    init() throws { key = try PrivateKey.generate(.ES256) }

    /// How many were made.
    var count: Int { made.withLock { $0 } }

    /// The public key as a JWK set.
    var keySet: String {
        var jwk = key.publicJWK
        jwk.kid = "app-key"
        return "{\"keys\":[\(jwk.jsonText(asSigningKey: true))]}"
    }

    func clientAssertion(request: ClientAssertionRequest) throws -> String {
        let number = made.withLock { count in
            count += 1
            return count
        }
        let now = SystemClock().now()
        let header = #"{"alg":"ES256","typ":"client-authentication+jwt","kid":"app-key"}"#
        let claims =
            #"{"iss":"\#(request.clientId)","sub":"\#(request.clientId)","aud":"\#(request.audience)","#
            + #""jti":"peer-assertion-number-\#(number)","iat":\#(now),"exp":\#(now + 60)}"#
        return try JWSBuilder.compact(header: Array(header.utf8), payload: Array(claims.utf8)) {
            (input) throws(KeyError) in try key.sign(digest: SHA256.hash(input))
        }
    }
}
