import ClientShim
import JOSE

/// One app's life: enrol, sign in, call an API, restart, refresh, sign out.
struct SignInRun {
    let ready: ReadyFile
    let client: ReadyFile.Client

    func run() async throws(StepFailure) {
        let environment: AuthnEnvironment
        let directory: AppDirectory
        do {
            directory = try AppDirectory()
            environment = try directory.environment(caFile: ready.caFile)
        } catch {
            throw StepFailure(step: "app directory", reason: "\(error)")
        }
        defer { withExtendedLifetime(directory) {} }
        let provider = PrintingProvider(
            BrokerAssertionProvider(
                brokerURL: ready.broker, environment: environment, credential: .dpop))
        try await enrol(environment)
        try await signIn(try authn(environment), provider)
        // A second start of the app finds the session on disk.
        let restarted = try authn(environment)
        restarted.setClientAssertionProvider(provider)
        let session = try await storedSession(restarted)
        try await callAPI(restarted)
        try await refresh(session, restarted)
        try await signOut(session, restarted)
        guard Set(provider.jtis).count == provider.jtis.count else {
            throw StepFailure(step: "assertions", reason: "a jti came twice")
        }
    }

    private func authn(_ environment: AuthnEnvironment) throws(StepFailure) -> Authn {
        do { return try Authn(environment: environment) } catch {
            throw StepFailure(step: "app start", reason: "\(error)")
        }
    }

    private func enrol(_ environment: AuthnEnvironment) async throws(StepFailure) {
        let email = "demo-\(client.clientId)@example.test"
        let identity = try await Enrolment(environment: environment, issuer: ready.issuer)
            .enrol(email: email)
        do {
            try await authn(environment).importIdentity(identity)
        } catch {
            throw StepFailure(step: "enrolment", reason: "\(error)")
        }
        report("enrolled", "kid=\(identity.keyId)")
    }

    private func signIn(
        _ authn: Authn, _ provider: any ClientAssertionProvider
    ) async throws(StepFailure) {
        report("start")
        let flow = authn.startSignInFlow(
            config: SignInConfig(
                issuer: ready.issuer, clientId: client.clientId,
                scopes: ["openid", "offline_access"]),
            clientAssertionProvider: provider)
        let driver = flow.faceCaptureDriver()
        var step = "start"
        for await state in flow.stateStream() {
            switch state {
            case .starting, .runningPki: break
            case .downloadingFaceToken: step = "face token"
            case .awaitingFaceCapture(let request):
                guard request.lastError == nil else {
                    flow.cancel()
                    throw StepFailure(step: "match", reason: "\(request.lastError, default: "")")
                }
                report("face token", "opened")
                step = "match"
                driver.submitFaceCapture(FaceFrame(Array("frame".utf8)))
            case .verifyingFace: step = "match"
            case .postingResult:
                report("match")
                step = "completion"
            case .postingResultFailed(let reason, _):
                flow.cancel()
                throw StepFailure(step: step, reason: "\(reason)")
            case .redeemingCode:
                report("completion", "code received")
                step = "tokens"
            case .signedIn(let session, _):
                report("tokens stored", "scope=\(session.scope)")
                return
            case .cancelled: throw StepFailure(step: step, reason: "cancelled")
            case .failed(let reason): throw StepFailure(step: step, reason: "\(reason)")
            }
        }
        throw StepFailure(step: step, reason: "the flow ended without a result")
    }

    private func storedSession(_ authn: Authn) async throws(StepFailure) -> TokenSession {
        guard let session = authn.currentSession(), session.subject != nil else {
            throw StepFailure(step: "restart", reason: "no stored session")
        }
        report("restart", "session found on disk")
        return session
    }

    private func callAPI(_ authn: Authn) async throws(StepFailure) {
        let answer = try await api(authn, step: "API call")
        guard answer.status == 200 else {
            throw StepFailure(step: "API call", reason: "answered \(answer.status)")
        }
        report("API call", "answered 200")
    }

    private func refresh(_ session: TokenSession, _ authn: Authn) async throws(StepFailure) {
        let before = try await authorization(session)
        do { try await session.refresh() } catch {
            throw StepFailure(step: "refresh", reason: "\(error)")
        }
        guard try await authorization(session) != before else {
            throw StepFailure(step: "refresh", reason: "the access token is the same")
        }
        let answer = try await api(authn, step: "refresh")
        guard answer.status == 200 else {
            throw StepFailure(step: "refresh", reason: "API answered \(answer.status)")
        }
        report("refresh", "API answered 200 with the new token")
    }

    private func signOut(_ session: TokenSession, _ authn: Authn) async throws(StepFailure) {
        // Signed while the session is there, sent when it is gone: shows that the token was revoked.
        let kept: [HTTPHeader]
        do { kept = try await session.authorize(method: "GET", url: ready.api) } catch {
            throw StepFailure(step: "sign-out", reason: "\(error)")
        }
        await authn.signOut()
        guard authn.currentSession() == nil else {
            throw StepFailure(step: "sign-out", reason: "the session is still there")
        }
        let without = try await api(authn, step: "sign-out")
        guard without.status == 401 else {
            throw StepFailure(step: "sign-out", reason: "API answered \(without.status)")
        }
        var request = HTTPRequest(method: "GET", url: ready.api)
        request.headers = kept
        let withOld: HTTPAnswer
        do { withOld = try await DPoPHTTP(authn).data(for: request) } catch {
            throw StepFailure(step: "sign-out", reason: "\(error)")
        }
        guard withOld.status == 401 else {
            throw StepFailure(
                step: "sign-out", reason: "API answered \(withOld.status) to the old token")
        }
        report("sign-out", "API answered 401, also to the old token")
    }

    private func authorization(_ session: TokenSession) async throws(StepFailure) -> String? {
        do {
            return try await session.authorize(method: "GET", url: ready.api)
                .first { $0.name == "Authorization" }?.value
        } catch {
            throw StepFailure(step: "session", reason: "\(error)")
        }
    }

    private func api(_ authn: Authn, step: String) async throws(StepFailure) -> HTTPAnswer {
        do {
            return try await DPoPHTTP(authn).data(for: HTTPRequest(method: "GET", url: ready.api))
        } catch {
            throw StepFailure(step: step, reason: "\(error)")
        }
    }
}
