import JOSE
import SocketServer

/// The revocation endpoint (RFC 7009). Either kind of token takes the whole grant along.
struct RevocationEndpoint: Sendable {
    let uris: EndpointURIs
    let gate: ProtocolGate
    let signer: TokenSigner
    let state: SharedState

    /// 200 for a token that was revoked and for one that is not known, or was revoked before; `token_type_hint` is only
    /// a hint and never needed here.
    func answer(_ request: HTTPRequest) async throws(OAuthFault) -> HTTPResponse {
        let admitted = try await gate.admit(request, uri: try uris.target(Path.revocation)) { _ in
            .optional
        }
        let token = try admitted.form.required("token")
        let clientId = admitted.client.clientId
        let grantId = signer.claims(ofAccessToken: token)?["grant_id"]?.string
        try state.change { (state) throws(OAuthFault) in
            if try state.authorizations.revoke(refreshToken: token, clientId: clientId) { return }
            if let grantId {
                try state.authorizations.revoke(grantId: grantId, clientId: clientId)
            }
        }
        return .json(200) { _ in }
    }
}
