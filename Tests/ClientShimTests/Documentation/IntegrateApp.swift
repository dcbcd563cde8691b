import ClientShim

/// The code of docs/integrate-app.md, compiled here and run by IntegrateAppTests, which also compares the two.
enum IntegrateApp {
    static func environment(
        directory: String, masterKey: MasterKey, faceEngine: any FaceEngine,
        log: @escaping @Sendable (DiagnosticEvent) -> Void
    ) throws -> AuthnEnvironment {
        AuthnEnvironment(
            keyStore: try EncryptedFileKeyStore(
                directory: directory + "/keys", masterKey: masterKey),
            store: try EncryptedFileSecureStore(
                directory: directory + "/records", masterKey: masterKey),
            transport: CurlTransport(),
            faceEngine: faceEngine,
            onDiagnostic: log)
    }

    static func launch(_ environment: AuthnEnvironment) throws -> Authn {
        let authn = try Authn(environment: environment)
        authn.setClientAssertionProvider(
            BrokerAssertionProvider(brokerURL: "https://broker.example", environment: environment))
        return authn
    }

    static func first(_ authn: Authn) -> Screen {
        if let session = authn.currentSession() {
            return .home(session)
        }
        return .signIn
    }

    /// What the app shows.
    enum Screen {
        case signIn
        case home(TokenSession)
        case progress(String)
        case camera(attemptsLeft: Int, wasNoMatch: Bool)
        case tryAgain(afterSeconds: Int?)
        case sorry(SignInFailure)
    }

    static func startSignIn(_ authn: Authn, _ environment: AuthnEnvironment) -> SignInFlow {
        authn.startSignInFlow(
            config: SignInConfig(
                issuer: "https://idp.example",
                clientId: "app",
                scopes: ["openid", "offline_access"]),
            clientAssertionProvider: BrokerAssertionProvider(
                brokerURL: "https://broker.example", environment: environment))
    }

    static func watch(_ flow: SignInFlow, show: (Screen) -> Void) async {
        for await state in flow.stateStream() {
            switch state {
            case .starting, .downloadingFaceToken:
                show(.progress("Getting ready"))
            case .awaitingFaceCapture(let request):
                show(
                    .camera(
                        attemptsLeft: request.attemptsMax - request.attemptsUsed,
                        wasNoMatch: request.lastError == .faceMismatch))
            case .verifyingFace, .runningPki, .postingResult, .redeemingCode:
                show(.progress("Signing in"))
            case .postingResultFailed(_, let retryAfter):
                show(.tryAgain(afterSeconds: retryAfter))
            case .signedIn(let session, _):
                show(.home(session))
            case .cancelled:
                show(.signIn)
            case .failed(let reason):
                show(.sorry(reason))
            }
        }
    }

    static func capture(_ flow: SignInFlow, nextFrame: () async -> [UInt8]) async {
        let driver = flow.faceCaptureDriver()
        for await state in driver.stateStream() {
            if case .ready = state {
                driver.submitFaceCapture(FaceFrame(await nextFrame()))
            }
        }
    }

    static func accounts(_ authn: Authn) async throws -> [UInt8] {
        let http = DPoPHTTP(authn)
        http.allowedOrigins = ["https://api.example"]
        let answer = try await http.data(
            for: HTTPRequest(method: "GET", url: "https://api.example/accounts"))
        guard answer.status == 200 else { throw APIFailure(status: answer.status) }
        return answer.body
    }

    static func end(_ authn: Authn) async {
        await authn.signOut()
    }

    struct APIFailure: Error {
        let status: Int
    }

    /// For an app that asks its own backend.
    struct BackendProvider: ClientAssertionProvider {
        let ask: @Sendable (_ clientId: String, _ audience: String, _ jkt: String) throws -> String

        func clientAssertion(request: ClientAssertionRequest) throws -> String {
            do {
                return try ask(request.clientId, request.audience, request.dpopJkt)
            } catch {
                throw ClientAssertionError.Unavailable(details: "the backend gave none")
            }
        }
    }
}
