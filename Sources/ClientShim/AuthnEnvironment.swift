/// Everything the SDK gets from outside: keys, storage, network, face, time and chance.
public struct AuthnEnvironment: Sendable {
    /// The device's keys.
    public var keyStore: any KeyStore
    /// Small records.
    public var store: any SecureStore
    /// The network.
    public var transport: any HTTPTransport
    /// Liveness and match.
    public var faceEngine: any FaceEngine
    /// Evidence for a genuine app.
    public var attestor: any AppAttestor
    /// Time.
    public var clock: any AuthnClock
    /// Chance.
    public var random: any RandomSource
    /// Lets plain `http` through, to loopback hosts only (R-100-25).
    public var allowInsecureLoopback: Bool
    /// Called from any thread with each diagnostic event.
    public var onDiagnostic: (@Sendable (DiagnosticEvent) -> Void)?
    /// Where the work runs; each `Authn` makes its own when there are none.
    var threads: SDKThreads?

    /// An environment with the system's clock and random source unless told otherwise.
    public init(
        keyStore: any KeyStore, store: any SecureStore, transport: any HTTPTransport,
        faceEngine: any FaceEngine, attestor: any AppAttestor = NoAppAttestor(),
        clock: any AuthnClock = SystemClock(), random: any RandomSource = SystemRandom(),
        allowInsecureLoopback: Bool = false,
        onDiagnostic: (@Sendable (DiagnosticEvent) -> Void)? = nil
    ) {
        self.keyStore = keyStore
        self.store = store
        self.transport = transport
        self.faceEngine = faceEngine
        self.attestor = attestor
        self.clock = clock
        self.random = random
        self.allowInsecureLoopback = allowInsecureLoopback
        self.onDiagnostic = onDiagnostic
    }
}
