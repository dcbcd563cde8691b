import JOSE
import Testing

@testable import ClientShim

/// A device with one enrolled user, a provider, and nothing else; each test makes its own.
final class World: Sendable {
    let clock: ManualClock
    let keyStore = InMemoryKeyStore()
    let store: FaultyStore
    let provider: FakeProvider
    let diagnostics = DiagnosticLog()
    let environment: AuthnEnvironment
    let identity: Identity
    let authn: Authn

    static let issuer = "https://idp.example"
    static let clientId = "app"
    static let email = "user@example.test"

    init(
        verdicts: [ScriptedFaceEngine.Verdict] = [], enrolled: Bool = true,
        engine: (any FaceEngine)? = nil
    ) async throws {
        clock = ManualClock()
        store = FaultyStore()
        let jwk = try keyStore.generate(label: "device")
        let provider = FakeProvider(
            issuer: Self.issuer, deviceKey: jwk, email: Self.email, clock: clock)
        self.provider = provider
        let diagnostics = diagnostics
        environment = AuthnEnvironment(
            keyStore: keyStore, store: store,
            transport: ScriptedTransport { await provider.answer($0) },
            faceEngine: engine ?? ScriptedFaceEngine(verdicts: verdicts), clock: clock,
            onDiagnostic: { diagnostics.add($0) })
        identity = Identity(
            keyId: jwk.thumbprint, email: Self.email, keyLabel: "device", issuer: Self.issuer,
            deviceId: "device-1")
        authn = try Authn(environment: environment)
        if enrolled { try await authn.importIdentity(identity) }
    }

    var config: SignInConfig {
        SignInConfig(
            issuer: Self.issuer, clientId: Self.clientId, scopes: ["openid", "offline_access"])
    }

    /// Starts a flow, hands over a frame whenever one is wanted, retries as often as told, and gives
    /// every state up to the end or the first wait for a `retry()` that was not granted.
    func signIn(
        _ config: SignInConfig? = nil, with assertions: (any ClientAssertionProvider)? = nil,
        retries: Int = 0, frames: Int = .max
    ) async -> [SignInState] {
        let config = config ?? self.config
        let flow =
            if let assertions {
                authn.startSignInFlow(config: config, clientAssertionProvider: assertions)
            } else {
                authn.startSignInFlow(config: config)
            }
        return await drive(flow, retries: retries, frames: frames)
    }

    func drive(_ flow: SignInFlow, retries: Int = 0, frames: Int = .max) async -> [SignInState] {
        let driver = flow.faceCaptureDriver()
        var (retries, frames) = (retries, frames)
        var states: [SignInState] = []
        for await state in flow.stateStream() {
            states.append(state)
            switch state {
            case .awaitingFaceCapture:
                guard frames > 0 else { return states }
                frames -= 1
                driver.submitFaceCapture(FaceFrame([1, 2, 3]))
            case .postingResultFailed:
                guard retries > 0 else { return states }
                retries -= 1
                flow.retry()
            default: break
            }
        }
        return states
    }

    /// A second start of the app on the same device.
    func restarted() throws -> Authn { try Authn(environment: environment) }
}

extension [SignInState] {
    /// The failure it ended with, `nil` for any other end.
    var failure: SignInFailure? {
        if case .failed(let reason) = last { reason } else { nil }
    }

    var session: TokenSession? {
        if case .signedIn(let session, _) = last { session } else { nil }
    }

    /// Where the proof could not be delivered, and why.
    var parked: [PostFailure] {
        compactMap { if case .postingResultFailed(let reason, _) = $0 { reason } else { nil } }
    }
}
