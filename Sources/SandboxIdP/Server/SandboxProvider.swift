import DPoPResource
import JOSE
import SocketServer

/// A strict identity provider for development and tests, whole and without a socket: a request in, an answer out.
final class SandboxProvider: Sendable {
    let configuration: ProviderConfiguration
    let environment: Environment
    let state: SharedState
    private let signer: TokenSigner
    private let nonces: DPoPNonces
    private let gate: ProtocolGate
    private let devices: DeviceRequestGate
    private let api: AccountsAPI

    /// A provider with nonces of its own, made now.
    ///
    /// - Parameters:
    ///   - given: its signing key, for one of many providers in one process; without it one is made now.
    ///   - apiNonces: whether the API takes nonces of its own only, as one of another origin would. Otherwise it has those of
    ///     the provider: both are one origin, and of an origin an app knows the newest nonce only (R-100-32).
    /// - Throws: `ProviderError` when no key can be made.
    init(
        _ configuration: ProviderConfiguration, environment: Environment,
        signer given: TokenSigner? = nil, apiNonces: Bool = false
    ) throws(ProviderError) {
        self.configuration = configuration
        self.environment = environment
        state = SharedState(clients: configuration.clients)
        if let given { signer = given } else { signer = try TokenSigner() }
        guard let secret = environment.random(32).flatMap({ NonceSecret($0) }) else {
            throw .noRandomness
        }
        nonces = DPoPNonces(secret, purpose: "authorization server")
        let proofs = ProofGate(nonces: nonces, state: state)
        gate = ProtocolGate(
            authenticator: ClientAuthenticator(
                issuer: configuration.uris.issuer, environment: environment, state: state),
            proofs: proofs, environment: environment)
        devices = DeviceRequestGate(issuer: configuration.uris.issuer, state: state)
        do {
            api = try AccountsAPI(
                uris: configuration.uris, keys: signer.keySet,
                nonces: apiNonces ? DPoPNonces(secret, purpose: "demo api") : nonces, state: state)
        } catch {
            throw .api(error)
        }
    }

    /// The route of a request whose method and content type it takes.
    func route(_ head: HTTPRequestHead) throws(OAuthFault) -> Route {
        guard let route = Route(path: head.path, basePath: configuration.uris.basePath) else {
            throw .notFound
        }
        guard route.methods.contains(head.method) else {
            throw .methodNotAllowed(allowed: route.methods.joined(separator: ", "))
        }
        guard route.bodyType == .none || MediaType.of(head) == route.bodyType.rawValue else {
            throw .unsupportedMediaType(expected: route.bodyType.rawValue)
        }
        return route
    }

    /// The answer to one request; every request ends in exactly one event.
    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        var pattern = "unknown"
        do throws(OAuthFault) {
            let route = try route(request.head)
            pattern = route.pattern
            try countAddress(request.head.remote)
            let answer = try await answer(request, on: route)
            environment.log(
                RequestEvent(route: pattern, status: answer.response.status, cause: answer.cause))
            return adding(route, to: answer.response)
        } catch {
            return adding(try? route(request.head), to: refuse(error, on: pattern))
        }
    }

    /// The answer to a request that fails before or at its endpoint, with its event.
    func refuse(_ fault: OAuthFault, on pattern: String) -> HTTPResponse {
        let response = HTTPResponse(fault)
        environment.log(
            RequestEvent(route: pattern, status: response.status, cause: "\(fault)"))
        return response
    }

    private func answer(
        _ request: HTTPRequest, on route: Route
    ) async throws(OAuthFault) -> (response: HTTPResponse, cause: String?) {
        switch route {
        case .metadata: return (Metadata(configuration).response, nil)
        case .jwks: return (signer.keySetResponse, nil)
        case .challenge: return try await challenge.answer(request)
        case .token: return (try await token.answer(request), nil)
        case .revocation: return (try await revocation.answer(request), nil)
        case .faceToken(let sid): return (try portal.faceToken(request, sid: sid), nil)
        case .abort(let sid): return (try portal.abort(request, sid: sid), nil)
        case .enrolments: return (try enrolments.answer(request), nil)
        case .applications: return (try console.changeApplication(request), nil)
        case .keys: return (try console.changeKey(request), nil)
        case .accounts, .transfers:
            return await api.answer(request, on: route, now: environment.now())
        }
    }

    private var challenge: ChallengeEndpoint {
        ChallengeEndpoint(
            configuration: configuration, gate: gate, devices: devices, environment: environment,
            state: state)
    }

    private var token: TokenEndpoint {
        TokenEndpoint(
            configuration: configuration, gate: gate, signer: signer, environment: environment,
            state: state)
    }

    private var revocation: RevocationEndpoint {
        RevocationEndpoint(uris: configuration.uris, gate: gate, signer: signer, state: state)
    }

    private var portal: PortalEndpoint {
        PortalEndpoint(
            configuration: configuration, proofs: gate.proofs, devices: devices,
            environment: environment, state: state)
    }

    private var enrolments: EnrolmentEndpoint {
        EnrolmentEndpoint(environment: environment, state: state)
    }

    private var console: ConsoleEndpoint { ConsoleEndpoint(state: state) }

    /// R-000-72: one limit an address, whatever the endpoint.
    private func countAddress(_ remote: RemoteAddress) throws(OAuthFault) {
        let now = environment.now()
        let quota = configuration.limits.requestsPerAddress
        try state.change { (state) throws(OAuthFault) in
            try state.counters.spend(
                [(.requestsPerAddress, "\(remote)", quota)], now: now)
        }
    }

    /// Every answer of the authorization server and its portal hands out the newest nonce (RFC 9449 §8.2).
    private func adding(_ route: Route?, to response: HTTPResponse) -> HTTPResponse {
        switch route {
        case .challenge, .token, .revocation, .faceToken, .abort:
            var response = response
            response.headers.append(("DPoP-Nonce", nonces.current(environment.now())))
            return response
        case .metadata, .jwks, .enrolments, .applications, .keys, .accounts, .transfers, nil:
            return response
        }
    }
}

/// Why a provider cannot be made.
enum ProviderError: Error, Equatable, Sendable {
    case noRandomness
    case signingKey(KeyError)
    case api(DPoPResourceConfigurationError)
}
