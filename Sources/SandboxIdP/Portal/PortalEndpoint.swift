import JOSE
import SocketServer

/// The device API: the calls of a ceremony, each signed by the device and proven by the session's DPoP key (flows §3.5).
struct PortalEndpoint: Sendable {
    let configuration: ProviderConfiguration
    let proofs: ProofGate
    let devices: DeviceRequestGate
    let environment: Environment
    let state: SharedState

    /// `POST /ceremonies/{sid}/face-token`.
    ///
    /// Whatever stands in the way of this ceremony (nobody has the address, the key is another person's, the session is
    /// over) gives the same 404, so that no address can be probed (R-000-14, R-000-05).
    func faceToken(_ request: HTTPRequest, sid: String) throws(OAuthFault) -> HTTPResponse {
        let (session, signer, _) = try admit(request, .faceToken(sid: sid), .faceToken, sid)
        // Withdrawing a precondition stops sign-ins that are under way too (flows §3.2).
        if let session, let client = state.change({ $0.clients[session.clientId] }) {
            try Precondition.check(client)
        }
        guard let session, let signer, signer.email == session.email, case .open = session.stage
        else { throw .ceremonyUnavailable }
        let pki = configuration.options.faceKeys
        return .json(200) {
            $0.member("face_token", signer.faceToken)
            $0.member("password_protected", signer.isPasswordProtected)
            $0.name("branding")
            $0.object {
                $0.member("rp_id", session.clientId)
                $0.member("organisation", configuration.organisation)
            }
            $0.name("pki")
            $0.object {
                $0.member("available", pki.isAvailable)
                $0.member("tenant_scope_allowed", pki.allowsTenantScope)
            }
            $0.member("expires_at", session.expiresAt)
        }
    }

    /// `POST /ceremonies/{sid}/abort`: ends the session for the install that began it, whether it has an identity of that
    /// user or none at all. A session that is over or was never there gets the same empty answer.
    func abort(_ request: HTTPRequest, sid: String) throws(OAuthFault) -> HTTPResponse {
        let (session, signer, abort) = try admit(request, .abort(sid: sid), .abort, sid)
        do { _ = try abort.text("fail_reason") } catch { throw .deviceRequest(error) }
        if let session, signer == nil || signer?.email == session.email {
            state.change { $0.authorizations.end(sid: session.sid) }
        }
        return HTTPResponse(status: 204, headers: [("Cache-Control", "no-store")])
    }

    /// Checks proof and device request. The session is `nil` when it is unknown, over, or another key's.
    private func admit(
        _ request: HTTPRequest, _ route: Route, _ action: DeviceRequest.Action, _ sid: String
    ) throws(OAuthFault) -> (ChallengeSession?, Enrolment?, DeviceRequest) {
        guard request.head.query == nil else { throw .invalidRequest(.parametersInQuery) }
        let now = environment.now()
        let proof = try proofs.check(
            request.head, uri: try configuration.uris.target(route.path), nonce: .optional,
            now: now)
        let session = state.change { $0.authorizations.sessions[sid] }
        if let session, session.jkt != proof.jkt { throw .invalidDPoPProof(.anotherKey) }
        let (signer, deviceRequest) = try devices.signer(
            of: request.body, action, sid: sid, now: now)
        guard let session, !session.hasExpired(now) else { return (nil, signer, deviceRequest) }
        return (session, signer, deviceRequest)
    }
}
