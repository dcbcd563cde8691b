import JOSE
import SocketServer

/// The authorization challenge endpoint (draft-ietf-oauth-first-party-apps §5, flows §3.5).
struct ChallengeEndpoint: Sendable {
    let configuration: ProviderConfiguration
    let gate: ProtocolGate
    let devices: DeviceRequestGate
    let environment: Environment
    let state: SharedState

    /// The answer, and what the log should say of it besides its status.
    func answer(
        _ request: HTTPRequest
    ) async throws(OAuthFault) -> (response: HTTPResponse, cause: String?) {
        let admitted = try await gate.admit(
            request, uri: try configuration.uris.target(Path.challenge)
        ) { form in
            // The start may come without a nonce, since it is a device's first call; the rest may not (R-000-18).
            .demanded(
                form["auth_session"] == nil && !configuration.options.demandsNonceAtStart
                    ? .optional : .demanded)
        }
        try Precondition.check(admitted.client)
        try checkResponseType(admitted.form)
        guard let authSession = admitted.form["auth_session"] else { return try start(admitted) }
        return (try proceed(admitted, authSession: authSession), nil)
    }

    /// Required to start; a later request is known by its session, but must not contradict.
    private func checkResponseType(_ form: Form) throws(OAuthFault) {
        guard let type = form["response_type"] else {
            guard form["auth_session"] == nil else { return }
            throw .invalidRequest(.missing("response_type"))
        }
        guard type == "code" else { throw .unsupportedResponseType }
    }

    private func start(
        _ request: ProtocolRequest
    ) throws(OAuthFault) -> (response: HTTPResponse, cause: String?) {
        guard !request.client.browserRequired else { throw .redirectToWeb }
        let start = try ChallengeStart(request.form, request.client, configuration)
        let attested = try configuration.attestation.judge(
            request.form["app_attestation"], challenge: start.nonce, now: request.now)
        let session = ChallengeSession(
            sid: try environment.identifier(), clientId: request.client.clientId,
            jkt: try request.jkt(), email: start.email, scope: start.scope,
            resource: start.resource, challenge: start.challenge, nonce: start.nonce,
            expiresAt: request.now + configuration.lifetimes.session)
        let authSession = try environment.secret()
        let limits = configuration.limits
        try state.change { (state) throws(OAuthFault) in
            try state.counters.spend(
                [
                    (
                        .startsPerEmail, "\(session.clientId) \(session.email)",
                        limits.startsPerEmail
                    ), (.startsPerTenant, "", limits.startsPerTenant),
                ], now: request.now)
            state.authorizations.open(session, authSession: authSession, now: request.now)
        }
        return (demandCeremony(session, authSession, request.now), attested)
    }

    /// The same answer whoever the hint names (R-000-14).
    private func demandCeremony(
        _ session: ChallengeSession, _ authSession: String, _ now: Int64
    ) -> HTTPResponse {
        .json(400) {
            $0.member("error", "insufficient_authorization")
            $0.member("auth_session", authSession)
            $0.name("ceremony")
            $0.object {
                $0.member("kind", "face")
                $0.member("sid", session.sid)
                $0.member("expires_in", max(0, session.expiresAt - now))
            }
        }
    }

    private func proceed(
        _ request: ProtocolRequest, authSession: String
    ) throws(OAuthFault) -> HTTPResponse {
        let jkt = try request.jkt()
        let session = try state.change { (state) throws(OAuthFault) in
            try state.authorizations.session(
                authSession: authSession, clientId: request.client.clientId, jkt: jkt,
                now: request.now)
        }
        guard let response = request.form["ceremony_response"] else {
            return demandCeremony(session, authSession, request.now)
        }
        let completion = try devices.completion(response, of: session, now: request.now)
        // Not before the user proved who it is: nobody else is told who may not use what.
        guard !request.client.deniedEmails.contains(session.email) else { throw .accessDenied }
        let code = try environment.secret()
        try state.change { (state) throws(OAuthFault) in
            let isFirst = try state.authorizations.complete(
                sid: session.sid, with: TokenDigest(of: response), by: completion.enrolment,
                code: code, now: request.now)
            if isFirst {
                state.directory.replaceFaceToken(
                    keyId: completion.enrolment.keyId, with: completion.faceToken)
            }
        }
        return .json(200) { $0.member("authorization_code", code) }
    }
}
