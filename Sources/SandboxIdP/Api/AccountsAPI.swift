import JOSE
import SocketServer

/// A protected API as a tenant would write one: every call passes `DPoPResourceVerifier`, with nonces of the API's own.
struct AccountsAPI: Sendable {
    private let uris: EndpointURIs
    private let nonces: NonceMaker
    private let verifier: DPoPResourceVerifier

    /// The scope that `/transfers` wants.
    static let transfersScope = "transfers"

    init(uris: EndpointURIs, keys: JWKSet, nonces: NonceMaker, state: SharedState) {
        self.uris = uris
        self.nonces = nonces
        verifier = DPoPResourceVerifier(
            issuer: uris.issuer, audience: uris.api,
            keys: { keys.candidates(kid: $0, algorithm: $1) },
            acceptsNonce: { nonces.accepts($0, $1) },
            spendProof: { key, until, now in
                state.change { $0.proofs.spend(key, until: until, now: now) }
            },
            isRevoked: { token in
                guard let grantId = token.grantId else { return true }
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
            let (token, proof) = try await verifier.verify(
                ResourceRequest(
                    method: head.method, uri: uri, query: head.query,
                    authorization: head.headers.all("authorization"),
                    proofs: head.headers.all("dpop")),
                requiredScope: route == .transfers ? Self.transfersScope : nil, now: now)
            return (served(request, token, proof, now), nil)
        } catch {
            return (refused(error, now), "\(error)")
        }
    }

    private func served(
        _ request: HTTPRequest, _ token: AccessToken, _ proof: VerifiedDPoPProof, _ now: Int64
    ) -> HTTPResponse {
        var headers: [(name: String, value: String)] = []
        // A nonce that will soon be too old is replaced before it causes a refusal (RFC 9449 §8.2).
        if proof.nonce != nonces.current(now) {
            headers.append(("DPoP-Nonce", nonces.current(now)))
        }
        return .json(request.head.method == "POST" ? 201 : 200, headers: headers) {
            $0.member("sub", token.subject)
            $0.member("client_id", token.clientId)
            $0.member("scope", token.scopes.joined(separator: " "))
            $0.member("received_octets", request.body.count)
        }
    }

    private func refused(_ refusal: ResourceRefusal, _ now: Int64) -> HTTPResponse {
        var headers = [(name: "WWW-Authenticate", value: refusal.challenge)]
        if refusal == .useNonce { headers.append(("DPoP-Nonce", nonces.current(now))) }
        return .json(refusal.status, headers: headers) {
            if let code = refusal.code { $0.member("error", code) }
        }
    }
}
