import ClientShim
import JOSE

/// Uses the session that it finds on disk, as an app would that was started again.
struct AppScript {
    private let environment: AuthnEnvironment
    private let authn: Authn
    private let provider: KeyHolder
    private let issuer: String
    private let clientId: String

    /// - Parameter words: the directory with the stores, the issuer, the file of its authority, the client id, and the file
    ///   with the client's key.
    init?(_ words: some Sequence<String>) {
        let words = Array(words)
        do {
            let key = try MasterKey(bytes: StoreScript.masterKey)
            environment = AuthnEnvironment(
                keyStore: try EncryptedFileKeyStore(directory: words[0] + "/keys", masterKey: key),
                store: try EncryptedFileSecureStore(
                    directory: words[0] + "/records", masterKey: key),
                transport: CurlTransport(caFile: words[2]), faceEngine: ScriptedFaceEngine(),
                onDiagnostic: { say("diagnostic \($0.step) \($0.outcome)") })
            authn = try Authn(environment: environment)
            provider = KeyHolder(key: try PrivateKey.load(uri: "file:" + words[4]))
            issuer = words[1]
            clientId = words[3]
            authn.setClientAssertionProvider(provider)
        } catch {
            say("failed \(error)")
            return nil
        }
    }

    /// - Returns: whether it went well each time.
    func run(_ command: String, times: Int) async -> Bool {
        say("started")
        for _ in 0..<times {
            let result =
                switch command {
                case "calls": await call()
                case "refresh": await refresh()
                case "sign-in": await signIn()
                default: await signOut()
                }
            say(result)
            guard ["answered 200", "refreshed", "signed in", "signed out"].contains(result) else {
                return false
            }
        }
        return true
    }

    private func signOut() async -> String {
        await authn.signOut()
        return authn.currentSession() == nil ? "signed out" : "signed in still"
    }

    private func signIn() async -> String {
        do { try await enrol() } catch { return "not enrolled: \(error)" }
        let flow = authn.startSignInFlow(
            config: SignInConfig(
                issuer: issuer, clientId: clientId, scopes: ["openid", "offline_access"]),
            clientAssertionProvider: provider)
        let driver = flow.faceCaptureDriver()
        var last = "no state"
        for await state in flow.stateStream() {
            switch state {
            case .awaitingFaceCapture: driver.submitFaceCapture(FaceFrame([1]))
            case .postingResultFailed: flow.cancel()
            case .signedIn: last = "signed in"
            case .failed(let reason): last = "failed \(reason)"
            default: break
            }
        }
        return last
    }

    private func enrol() async throws {
        guard try environment.keyStore.publicJWK(label: "device") == nil else { return }
        let jwk = try environment.keyStore.generate(label: "device")
        var body = JSONWriter()
        let token = try ScriptedFaceEngine.newToken()
        body.object {
            $0.member("email", "ada@example.com")
            $0.name("jwk")
            jwk.write(to: &$0, asSigningKey: false)
            $0.member("face_token", token.expose())
        }
        let outcome = await environment.transport.send(
            HTTPRequest(
                method: "POST", url: issuer + "/sandbox/enrolments",
                headers: [HTTPHeader("Content-Type", "application/json")],
                body: .bytes(body.bytes)))
        guard case .answer(let answer) = outcome,
            let deviceId = try JSONValue(parsing: answer.body)["device_id"]?.string
        else { throw ClientAssertionError.Unavailable(details: "no enrolment") }
        try await authn.importIdentity(
            Identity(
                keyId: jwk.thumbprint, email: "ada@example.com", keyLabel: "device",
                issuer: issuer, deviceId: deviceId))
    }

    private func call() async -> String {
        do {
            let answer = try await DPoPHTTP(authn).data(
                for: HTTPRequest(method: "GET", url: issuer + "/api/accounts"))
            return "answered \(answer.status)"
        } catch {
            return "failed \(error)"
        }
    }

    private func refresh() async -> String {
        guard let session = authn.currentSession() else { return "no session" }
        do {
            try await session.refresh()
            return "refreshed"
        } catch {
            return "refused \(error)"
        }
    }
}

/// Signs assertions with the client's own key, which an app never has: here nothing is about the broker.
struct KeyHolder: ClientAssertionProvider {
    let key: PrivateKey

    func clientAssertion(request: ClientAssertionRequest) throws -> String {
        let now = SystemClock().now()
        var header = JSONWriter()
        header.object {
            $0.member("alg", "ES256")
            $0.member("kid", "k1")
            $0.member("typ", "client-authentication+jwt")
        }
        let id = Base64URL.encode(try SecureRandom.bytes(16))
        var claims = JSONWriter()
        claims.object {
            $0.member("iss", request.clientId)
            $0.member("sub", request.clientId)
            $0.member("aud", request.audience)
            $0.member("iat", now)
            $0.member("exp", now + 60)
            $0.member("jti", id)
        }
        return try JWSBuilder.compact(header: header.bytes, payload: claims.bytes) {
            try key.sign($0)
        }
    }
}
