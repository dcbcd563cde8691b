import DPoPResource
import Glibc
import JOSE
import SocketServer
import Synchronization
import TestKit

@testable import SandboxIdP

/// The sandbox provider on a real socket over TLS, behind a cutter, with a door at which a request can be held.
final class TLSProvider: Sendable {
    static let clientId = "app"
    static let email = "user@example.test"

    /// A request that reached the provider.
    struct Call: Sendable {
        let path: String
        let form: [String: String]
        let nonce: String?
        var isRefresh: Bool { form["grant_type"] == "refresh_token" }
    }

    /// Where the next request to a path waits.
    enum Place: Sendable {
        /// The provider does not know of it.
        case atTheDoor
        /// Its answer is made.
        case onTheWayBack
    }

    let issuer: String
    let cutter: TCPCutter
    /// Every request, before it is answered.
    let arrived = EventTrail<Call>()
    /// Those the provider was given.
    let given = EventTrail<Call>()
    /// Those that wait, when they begin to.
    let held = EventTrail<Call>()
    private let server: HTTPServer
    private let door: Door
    private let provider: SandboxProvider

    init(
        _ certificate: TestAuthority.Certificate, clientKey: PublicJWK, rotates: Bool
    ) throws {
        let (cutter, door) = (try TCPCutter(), Door())
        (self.cutter, self.door) = (cutter, door)
        issuer = "https://127.0.0.1:\(cutter.port)"
        guard let uris = EndpointURIs(issuer: issuer) else { throw BadSetUp() }
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
                now: { Int64(time(nil)) }, random: { try? SecureRandom.bytes($0) },
                clientKeys: OneKeySet(keys: JWKSet([clientKey])), log: { _ in }), apiNonces: true)
        var socket = HTTPServerConfiguration(
            address: "127.0.0.1", port: 0,
            tls: TLSConfiguration(
                certificateChainFile: certificate.certificateFile,
                privateKeyFile: certificate.keyFile))
        socket.deadlines = .ample
        server = try HTTPServer(socket, lanes: [Lane(index: 0)], handler: door)
        door.open(for: self)
        try server.start()
        cutter.forward(to: server.port)
    }

    struct BadSetUp: Error {}

    private struct OneKeySet: ClientKeySource {
        let keys: JWKSet

        func keys(
            of client: Client, containing kid: String?, now: Int64
        ) async throws(JWKSFault) -> JWKSet { keys }
    }

    /// Enrols the device's key for the user.
    func enrol(_ jwk: PublicJWK, faceToken: String) throws {
        let enrolment = Enrolment(
            keyId: jwk.thumbprint, email: Self.email, subject: "user-1", deviceId: "device-1",
            key: try PublicKey(jwk), faceToken: faceToken, isPasswordProtected: false)
        _ = provider.state.change { $0.directory.enrol(enrolment) }
    }

    /// The refresh tokens that refreshes presented to the provider, in order; those that were only asked for a nonce left out.
    var refreshes: [String] {
        given.all.filter { $0.isRefresh && $0.nonce != nil }.compactMap { $0.form["refresh_token"] }
    }

    var liveGrants: Int {
        provider.state.change { state in state.authorizations.grants.values.count { !$0.isRevoked }
        }
    }

    func isLive(grantId: String) -> Bool {
        provider.state.change { $0.authorizations.isLive(grantId: grantId) }
    }

    /// As an administrator does.
    func revokeEverything() {
        provider.state.change { state in
            for id in state.authorizations.grants.keys { state.authorizations.revoke(grantId: id) }
        }
    }

    /// The keys of its access tokens.
    func keySet() async throws -> JWKSet {
        let head = HTTPRequestHead(method: "GET", path: "/jwks")
        let answer = await provider.answer(HTTPRequest(head: head))
        return try JWKSet(JSONValue(parsing: answer.body))
    }

    /// Holds the next request to that path that has a nonce, as a process's first refresh has not: it is asked for one, and its
    /// refresh token is not looked at.
    func hold(_ path: String, _ place: Place) { door.hold(path, place) }

    /// Lets what is held go on.
    func letGo() { door.letGo() }

    func stop() async {
        door.letGo()
        await server.drain(grace: .zero)
        cutter.stop()
    }

    private final class Door: HTTPHandler {
        private struct State {
            weak var provider: TLSProvider?
            var next: (path: String, place: Place)?
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private let state = Mutex(State())

        func open(for provider: TLSProvider) { state.withLock { $0.provider = provider } }
        func hold(_ path: String, _ place: Place) { state.withLock { $0.next = (path, place) } }

        func letGo() {
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
            for one in waiting { one.resume() }
        }

        func admit(_ head: HTTPRequestHead, on lane: Lane) -> Admission {
            .read(bodyLimit: Route.bodyLimit)
        }

        func handle(_ request: HTTPRequest, on lane: Lane, reply: SocketServer.Reply) {
            let call = Call(request)
            let (provider, place) = state.withLock { state -> (TLSProvider?, Place?) in
                guard let next = state.next, next.path == call.path, call.nonce != nil else {
                    return (state.provider, nil)
                }
                state.next = nil
                return (state.provider, next.place)
            }
            guard let provider else { return }
            Task {
                provider.arrived.append(call)
                if place == .atTheDoor { await self.wait(call, provider) }
                provider.given.append(call)
                let answer = await provider.provider.answer(request)
                if place == .onTheWayBack { await self.wait(call, provider) }
                reply.send(answer)
            }
        }

        private func wait(_ call: Call, _ provider: TLSProvider) async {
            await withCheckedContinuation { continuation in
                state.withLock { $0.waiting.append(continuation) }
                provider.held.append(call)
            }
        }

        func answer(to rejection: HTTPRejection, from remote: RemoteAddress) -> HTTPResponse {
            HTTPResponse(status: rejection.status)
        }
    }
}

extension TLSProvider.Call {
    fileprivate init(_ request: HTTPRequest) {
        path = request.head.path
        let text = String(decoding: request.body, as: UTF8.self)
        // The values looked at are base64url or plain words: nothing in them is escaped.
        let pairs = text.split(separator: "&").map { $0.split(separator: "=", maxSplits: 1) }
        form = Dictionary(
            pairs.map { (String($0[0]), $0.count > 1 ? String($0[1]) : "") }
        ) { first, _ in first }
        nonce = TLSAPI.claims(ofProof: request.head.headers.first("dpop"))?["nonce"]?.string
    }
}
