import JOSE
import TestKit
import Testing

@testable import AppProbe
@testable import ClientShim

/// A device with real stores that is signed in over a real network at a provider, and an API.
final class TLSWorld: Sendable {
    let provider: TLSProvider
    let api: TLSAPI
    let device: TemporaryDirectory
    let environment: AuthnEnvironment
    let authn: Authn
    let diagnostics: DiagnosticLog

    /// Signed in, and nothing else done.
    init(_ wire: Wire = .curl, rotates: Bool = true) async throws {
        let device = try TemporaryDirectory()
        self.device = device
        let master = try MasterKey(bytes: StoreScript.masterKey)
        func keys(_ name: String) throws -> EncryptedFileKeyStore {
            try EncryptedFileKeyStore(directory: device.file(name), masterKey: master)
        }
        let client = try keys("client")
        var clientKey = try client.generate(label: KeyStoreAssertions.label)
        clientKey.kid = KeyStoreAssertions.kid
        let certificate = try await Wire.certificate.value
        provider = try TLSProvider(certificate, clientKey: clientKey, rotates: rotates)
        api = try await TLSAPI(certificate, provider)
        let diagnostics = DiagnosticLog()
        self.diagnostics = diagnostics
        environment = AuthnEnvironment(
            keyStore: try keys("keys"),
            store: try EncryptedFileSecureStore(
                directory: device.file("records"), masterKey: master),
            transport: try await wire.transport(), faceEngine: ScriptedFaceEngine(),
            onDiagnostic: { diagnostics.add($0) })
        authn = try Authn(environment: environment)
        let jwk = try environment.keyStore.generate(label: "device")
        try provider.enrol(jwk, faceToken: try ScriptedFaceEngine.newToken().expose())
        try await authn.importIdentity(
            Identity(
                keyId: jwk.thumbprint, email: TLSProvider.email, keyLabel: "device",
                issuer: provider.issuer, deviceId: "device-1"))
        let clock = environment.clock
        let flow = authn.startSignInFlow(
            config: SignInConfig(
                issuer: provider.issuer, clientId: TLSProvider.clientId,
                scopes: ["openid", "offline_access"]),
            clientAssertionProvider: KeyStoreAssertions(keyStore: client, now: { clock.now() }))
        let driver = flow.faceCaptureDriver()
        var last: SignInState?
        for await state in flow.stateStream() {
            last = state
            if case .awaitingFaceCapture = state { driver.submitFaceCapture(FaceFrame([1])) }
            if case .postingResultFailed = state { break }
        }
        guard case .signedIn = last else {
            throw NotSignedIn(last: last.map { "\($0)" } ?? "nothing")
        }
    }

    struct NotSignedIn: Error {
        let last: String
    }

    var http: DPoPHTTP { DPoPHTTP(authn) }

    func get(_ url: String? = nil) async throws -> HTTPAnswer {
        try await http.data(for: HTTPRequest(method: "GET", url: url ?? api.url))
    }

    var record: SessionRecord? {
        get throws { try environment.store.read("session").flatMap { SessionRecord(bytes: $0) } }
    }

    /// Lets the access token end so many seconds from now. The clocks stay: proofs are judged by them.
    func expire(inSeconds seconds: Int64) throws {
        var record = try #require(try record)
        record.expiresAt = environment.clock.now() + seconds
        try environment.store.replace("session", with: record.json.bytes)
    }

    /// The access token with which a request came.
    static func token(_ seen: TLSPeer.Seen) -> String? {
        seen.all("authorization").first.map { String($0.dropFirst("DPoP ".count)) }
    }

    func stop() async {
        await provider.stop()
        await api.stop()
    }
}
