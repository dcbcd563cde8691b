import DPoPResource
import JOSE
import SocketServer

/// A protected API as a tenant would write one: every call passes `DPoPResourceVerifier`.
struct AccountsAPI: Sendable {
    private let uris: EndpointURIs
    private let verifier: DPoPResourceVerifier

    /// The scope that `/transfers` wants.
    static let transfersScope = "transfers"

    init(
        uris: EndpointURIs, keys: JWKSet, nonces: DPoPNonces, state: SharedState
    ) throws(DPoPResourceConfigurationError) {
        self.uris = uris
        verifier = DPoPResourceVerifier(
            try DPoPResourceConfiguration(issuer: uris.issuer, audience: uris.api),
            keys: FixedIssuerKeys(keys), nonces: nonces,
            isRevoked: { token in
                guard let grantId = token.claims["grant_id"]?.string else { return true }
                return !state.change { $0.authorizations.isLive(grantId: grantId) }
            })
    }

    /// The answer, and why it is a refusal when it is one.
    func answer(
        _ request: HTTPRequest, on route: Route, now: Int64
    ) async -> (response: HTTPResponse, cause: String?) {
        guard let uri = try? uris.target(route.path) else {
            return (HTTPResponse(OAuthFault.notFound), nil)
        }
        let head = request.head
        do throws(ResourceRefusal) {
            let access = try await verifier.verify(
                ResourceRequest(
                    method: head.method, uri: uri, query: head.query,
                    authorization: head.headers.all("authorization"),
                    proofs: head.headers.all("dpop")),
                requiredScope: route == .transfers ? Self.transfersScope : nil, now: now)
            return (served(request, access), nil)
        } catch {
            return (refused(error, now), "\(error)")
        }
    }

    private func served(_ request: HTTPRequest, _ access: GrantedAccess) -> HTTPResponse {
        let nonce = access.newNonce.map { [(name: "DPoP-Nonce", value: $0)] } ?? []
        return .json(request.head.method == "POST" ? 201 : 200, headers: nonce) {
            $0.member("sub", access.token.subject)
            $0.member("client_id", access.token.clientId)
            $0.member("scope", access.token.scopes.joined(separator: " "))
            $0.member("received_octets", request.body.count)
        }
    }

    private func refused(_ refusal: ResourceRefusal, _ now: Int64) -> HTTPResponse {
        let answer = verifier.answer(to: refusal, now: now)
        // `json` says itself that nothing is to be stored.
        let headers = answer.headers.filter { $0.name != "Cache-Control" }
        return .json(answer.status, headers: headers) {
            if let code = refusal.code { $0.member("error", code) }
        }
    }
}
