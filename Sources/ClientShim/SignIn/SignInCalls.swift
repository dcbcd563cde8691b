import JOSE
import Synchronization

/// Performs the effects of one sign-in and gives the event each ends in. Holds what only this flow may
/// know: verifier, nonce and `auth_session`.
final class SignInCalls: Sendable {
    let core: AuthnCore
    let config: SignInConfig
    private let provider: (any ClientAssertionProvider)?
    private let memory = Mutex(Memory())

    private struct Memory {
        var participants: Participants?
        /// Any answer may replace it (R-000-12).
        var authSession: Secret<String>?
    }

    /// Who takes part, found out once at the start.
    struct Participants: Sendable {
        let caller: EndpointCaller
        let installKey: InstallKey
        let identity: Identities.Choice
        let hint: String
        /// 32 random bytes in base64url (R-000-10).
        let verifier: Secret<String>
        let nonce: Secret<String>
    }

    init(core: AuthnCore, config: SignInConfig, provider: (any ClientAssertionProvider)?) {
        self.core = core
        self.config = config
        self.provider = provider
    }

    func perform(_ effect: SignInEffect) async -> SignInEvent? {
        do {
            switch effect {
            case .start: return try await start()
            case .fetchFaceToken(let ceremony): return try await fetchFaceToken(ceremony)
            case .verify(let frame, let token): return await verify(frame, token)
            case .wipe(let frame):
                frame.wipe()
                return nil
            case .runPki(let request, let token): return await runPki(request, token)
            case .makeProof(let capture): return try await makeProof(capture)
            case .complete(let proof): return try await complete(proof)
            case .redeem(let code): return try await redeem(code)
            case .store(let grant): return try await store(grant)
            case .abort(let ceremony, let reason):
                await abort(ceremony, reason)
                return nil
            case .revoke(let token):
                await revoke(token)
                return nil
            case .armExpiry: return nil  // the flow's own
            }
        } catch {
            return .deviceFailed(error.details)
        }
    }

    // MARK: - Start

    private func start() async throws(AuthnFault) -> SignInEvent {
        guard let who = try participants() else { return .started(.refused(.notEnrolled)) }
        let evidence = await attestation(for: who)
        let (config, scope) = (config, config.scopeText)
        let challenge = Base64URL.encode(SHA256.hash(who.verifier.expose().utf8))
        let outcome = await post("start", .challenge, who) { assertion in
            var form = FormBody()
            form.addClient(config.clientId, assertion)
            form.add("response_type", "code")
            form.add("scope", scope)
            form.add("login_hint", who.hint)
            form.add("code_challenge", challenge)
            form.add("code_challenge_method", "S256")
            form.add("nonce", who.nonce.expose())
            form.add("resource", config.resource)
            form.add("app_attestation", evidence)
            return form.bytes
        }
        return .started(try startStep(outcome))
    }

    /// The one expected answer is a 400 that asks for the ceremony.
    private func startStep(
        _ outcome: EndpointCaller.Outcome
    ) throws(AuthnFault) -> SignInStep<Ceremony> {
        switch outcome {
        case .lost(let reason): return .lost(reason)
        case .fault(let fault): throw fault
        case .answer(.busy(let busy)): return .busy(busy)
        case .answer(.served):
            return .refused(.server(message: "start was answered without a ceremony"))
        case .answer(.refused(let refusal)):
            guard refusal.error == "insufficient_authorization" else {
                return .refused(SignInFailure(refusal))
            }
            guard let offer = refusal.ceremony, hasAuthSession else {
                return .refused(.server(message: "the ceremony cannot be read"))
            }
            let now = core.environment.clock.now()
            return .served(
                Ceremony(
                    sid: offer.sid, expiresAt: now + offer.expiresIn,
                    providerExpiresAt: core.providerNow(config.issuer) + offer.expiresIn))
        }
    }

    /// Finds key and identity, and draws the flow's secrets. `nil` without any enrolled key (R-000-04).
    private func participants() throws(AuthnFault) -> Participants? {
        if let known = memory.withLock({ $0.participants }) { return known }
        let identities = try Identities(store: core.environment.store).all()
        let choice = Identities.choose(
            identities, issuer: config.issuer, hint: config.loginHint)
        let hint: String
        switch choice {
        case .none: return nil
        case .key(let identity): hint = identity.email
        case .stranger(let given): hint = given
        }
        let key = try core.installKeys.ensure()
        let secrets: (verifier: String, nonce: String)
        do {
            secrets = (try core.environment.random.text(32), try core.environment.random.text(16))
        } catch {
            throw .random
        }
        let caller = core.caller(
            flow: "sign-in", issuer: config.issuer, clientId: config.clientId, key: key,
            provider: provider)
        let who = Participants(
            caller: caller, installKey: key, identity: choice, hint: hint,
            verifier: Secret(secrets.verifier), nonce: Secret(secrets.nonce))
        memory.withLock { $0.participants = who }
        return who
    }

    /// Evidence over the code challenge's own secret would leak it; the nonce is public to the provider.
    private func attestation(for who: Participants) async -> String? {
        await core.environment.attestor.evidence(challenge: Array(who.nonce.expose().utf8))
    }

    // MARK: - Completion and token

    private func complete(_ proof: Secret<String>) async throws(AuthnFault) -> SignInEvent? {
        guard let who = try participants() else { return nil }
        let clientId = config.clientId
        let outcome = await post("completion", .challenge, who) { [self] assertion in
            var form = FormBody()
            form.addClient(clientId, assertion)
            form.add("auth_session", memory.withLock { $0.authSession }?.expose())
            form.add("ceremony_response", proof.expose())
            return form.bytes
        }
        switch outcome {
        case .lost(let reason): return .completed(.lost(reason))
        case .fault(let fault): throw fault
        case .answer(.busy(let busy)): return .completed(.busy(busy))
        case .answer(.refused(let refusal)): return .completed(.refused(SignInFailure(refusal)))
        case .answer(.served(let json)):
            guard let code = json["authorization_code"]?.string, !code.isEmpty else {
                return .completed(.refused(.server(message: "completion gave no code")))
            }
            return .completed(.served(Secret(code)))
        }
    }

    private func redeem(_ code: Secret<String>) async throws(AuthnFault) -> SignInEvent? {
        guard let who = try participants() else { return nil }
        let config = config
        let outcome = await post("token", .token, who) { assertion in
            var form = FormBody()
            form.add("grant_type", "authorization_code")
            form.addClient(config.clientId, assertion)
            form.add("code", code.expose())
            form.add("code_verifier", who.verifier.expose())
            form.add("resource", config.resource)
            return form.bytes
        }
        switch outcome {
        case .lost(let reason): return .redeemed(.lost(reason))
        case .fault(let fault): throw fault
        case .answer(.busy(let busy)): return .redeemed(.busy(busy))
        case .answer(.refused(let refusal)):
            return .redeemed(.refused(.server(message: refusal.message)))  // R-000-26
        case .answer(.served(let json)): return await check(json, who)
        }
    }

    private func check(_ json: JSONValue, _ who: Participants) async -> SignInEvent {
        let check = IDTokenCheck(
            issuer: config.issuer, clientId: config.clientId, nonce: who.nonce, subject: nil,
            now: await core.providerNow(issuer: config.issuer))
        let scopes = config.scopes
        let context = TokenGrant.Context(
            check: check, scope: config.scopeText, dpopJkt: who.installKey.dpopJkt,
            needsIDToken: scopes.isEmpty || scopes.contains("openid"),
            now: core.environment.clock.now())
        do {
            return .redeemed(.served(try TokenGrant(json, context)))
        } catch {
            switch error {
            case .malformed:
                return .redeemed(.refused(.server(message: "token answer without a token")))
            case .unbound(let issued), .rejected(let issued):
                return .tokensRejected(issued)
            }
        }
    }

    private func store(_ grant: TokenGrant) async throws(AuthnFault) -> SignInEvent? {
        guard let who = try participants() else { return nil }
        let grantId: String
        do { grantId = try core.environment.random.text(16) } catch { throw .random }
        let record = SessionRecord(
            grant, grantId: grantId, issuer: config.issuer, clientId: config.clientId,
            dpopJkt: who.installKey.dpopJkt)
        let replaced: SessionRecord?
        do {
            replaced = try await core.vault.replace(with: record)
        } catch {
            // What is not on disk is no session; the provider need not keep it either.
            await revoke(grant.revocable)
            throw error
        }
        if case .key(var identity) = who.identity {
            identity.lastUsed = core.environment.clock.now()
            try? Identities(store: core.environment.store).save(identity)
        }
        if let replaced { revokeLater(replaced, who) }
        return .stored(TokenSession(core: core, record: record))
    }

    /// R-000-35: nobody waits for it.
    private func revokeLater(_ record: SessionRecord, _ who: Participants) {
        Task(executorPreference: core.executor) { [core, provider] in
            await core.revoke(
                record.revocable, issuer: record.issuer, clientId: record.clientId,
                key: who.installKey, provider: provider)
        }
    }

    private func revoke(_ token: RevocableToken) async {
        guard let who = try? participants() else { return }
        await core.revoke(
            token, issuer: config.issuer, clientId: config.clientId, key: who.installKey,
            provider: provider)
    }

    // MARK: - Common

    func known() throws(AuthnFault) -> Participants? { try participants() }

    private var hasAuthSession: Bool { memory.withLock { $0.authSession } != nil }

    private func post(
        _ step: String, _ endpoint: Endpoint, _ who: Participants,
        _ body: @escaping @Sendable (Secret<String>?) throws(AuthnFault) -> [UInt8]
    ) async -> EndpointCaller.Outcome {
        var call = EndpointCaller.Call(
            step: step, endpoint: endpoint, contentType: FormBody.contentType,
            authenticates: true, body: body)
        call.onAnswer = { [self] answer in keepAuthSession(of: answer) }
        return await who.caller.post(call)
    }

    private func keepAuthSession(of answer: HTTPAnswer) {
        guard let json = try? JSONValue(parsing: answer.body),
            let session = json["auth_session"]?.string, !session.isEmpty
        else { return }
        memory.withLock { $0.authSession = Secret(session) }
    }
}
