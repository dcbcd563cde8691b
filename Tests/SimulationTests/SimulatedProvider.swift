import DPoPResource
import JOSE
import SocketServer
import TestKit

@testable import SandboxIdP

/// The sandbox provider, whole, with the run's clock and chance.
final class SimulatedProvider: Sendable {
    static let issuer = "https://idp.example"
    static let clientId = "app"

    private let provider: SandboxProvider
    private let timeline: Timeline

    /// - Parameters:
    ///   - clientKey: the public key of the client's assertions.
    ///   - log: takes each line of the provider's log.
    init(
        clientKey: PublicJWK, rotates: Bool, timeline: Timeline, random: SharedRandom,
        log: @escaping @Sendable (String) -> Void
    ) throws {
        self.timeline = timeline
        guard let uris = EndpointURIs(issuer: Self.issuer) else { throw BadSetUp() }
        var configuration = ProviderConfiguration(
            uris: uris,
            clients: [
                Client(
                    clientId: Self.clientId, jwksURI: "https://broker.example/jwks",
                    redirectURIs: ["https://app.example/cb"], scopes: Client.defaultScopes,
                    firstPartyChallengeEnabled: true)
            ])
        configuration.options.rotatesRefreshTokens = rotates
        provider = try SandboxProvider(
            configuration,
            environment: Environment(
                now: { timeline.milliseconds / 1000 }, random: { random.bytes($0) },
                clientKeys: OneKeySet(keys: JWKSet([clientKey])), log: { log($0.line) }),
            signer: try KeyPool.tokens.get(), apiNonces: true)
    }

    struct BadSetUp: Error {}

    private struct OneKeySet: ClientKeySource {
        let keys: JWKSet

        func keys(
            of client: Client, containing kid: String?, now: Int64
        ) async throws(JWKSFault) -> JWKSet { keys }
    }

    /// Enrols the device's key for the user.
    func enrol(_ jwk: PublicJWK, email: String, faceToken: String) throws {
        let enrolment = Enrolment(
            keyId: jwk.thumbprint, email: email, subject: "user-1", deviceId: "device-1",
            key: try PublicKey(jwk), faceToken: faceToken, isPasswordProtected: false)
        _ = provider.state.change { $0.directory.enrol(enrolment) }
    }

    func answer(_ request: WireRequest) async -> WireAnswer {
        let parts = request.path.split(separator: "?", maxSplits: 1)
        let head = HTTPRequestHead(
            method: request.method, path: parts.first.map(String.init) ?? "/",
            query: parts.count > 1 ? String(parts[1]) : nil, authority: "idp.example",
            headers: HTTPHeaders(request.headers))
        let answer = await provider.answer(HTTPRequest(head: head, body: request.body))
        return WireAnswer(status: answer.status, headers: answer.headers, body: answer.body)
    }

    /// Sign-ins that wait for their ceremony.
    var openSessions: Int {
        provider.state.change { state in
            state.authorizations.sessions.values.count { session in
                if case .open = session.stage { true } else { false }
            }
        }
    }

    /// For each sign-in, how many grants that came of it are alive.
    var liveGrants: [Int] {
        provider.state.change { state in
            var live: [String: Int] = [:]
            for code in state.authorizations.codes.values {
                guard case .spent(let grantId) = code.fate else { continue }
                live[code.sid, default: 0] += state.authorizations.isLive(grantId: grantId) ? 1 : 0
            }
            return Array(live.values)
        }
    }
}
