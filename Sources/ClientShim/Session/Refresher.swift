import JOSE

/// One refresh from lock to disk (R-000-51 to R-000-57). `RefreshGate` sees to it that only one runs in
/// this process, the lock in the store that only one runs on this device.
struct Refresher: Sendable {
    static let lockName = "refresh"
    /// Longer than a whole request may take, so that a living holder is waited for.
    static let lockLimitMilliseconds: Int64 = 90_000

    let core: AuthnCore

    /// - Parameter seen: the session the caller knows; when another process has refreshed it meanwhile,
    ///   its result is taken and nothing is sent.
    func run(seen: SessionRecord?) async -> RefreshGate.Answer {
        do {
            let lock = try await StoreLocking.acquire(
                Self.lockName, in: core.environment.store, clock: core.environment.clock,
                executor: core.executor, limitMilliseconds: Self.lockLimitMilliseconds)
            defer { lock.release() }
            guard let record = try await core.vault.load(),
                let refreshToken = record.refreshToken,
                let key = try core.installKeys.current()
            else { return .failure(.SignInRequired) }
            if let seen, seen.grantId == record.grantId, seen.accessToken != record.accessToken {
                return .success(record)
            }
            return try await refresh(record, refreshToken, key)
        } catch {
            return .failure(.Server)
        }
    }

    private func refresh(
        _ record: SessionRecord, _ refreshToken: Secret<String>, _ key: InstallKey
    ) async throws(AuthnFault) -> RefreshGate.Answer {
        let journal = RefreshJournal(store: core.environment.store)
        if journal.isOpen() { reportInterruption(key) }
        try journal.open(refreshToken, at: core.environment.clock.now())
        defer { journal.close() }
        let caller = core.caller(
            flow: "session", issuer: record.issuer, clientId: record.clientId, key: key,
            provider: core.provider)
        let outcome = await caller.post(
            EndpointCaller.Call(
                step: "refresh", endpoint: .token, contentType: FormBody.contentType,
                authenticates: true
            ) { assertion in
                var form = FormBody()
                form.add("grant_type", "refresh_token")
                form.add("refresh_token", refreshToken.expose())
                form.addClient(record.clientId, assertion)
                return form.bytes
            })
        switch outcome {
        case .lost: return .failure(.Network)
        case .fault(let fault): throw fault
        case .answer(.busy): return .failure(.Server)
        case .answer(.refused(let refusal)):
            // Only this code, well formed, ends a session (R-000-54).
            guard refusal.error == "invalid_grant", refusal.status == 400 else {
                return .failure(.Server)
            }
            return try await end(record)
        case .answer(.served(let json)): return try await take(json, record, key)
        }
    }

    private func take(
        _ json: JSONValue, _ record: SessionRecord, _ key: InstallKey
    ) async throws(AuthnFault) -> RefreshGate.Answer {
        let check = IDTokenCheck(
            issuer: record.issuer, clientId: record.clientId, nonce: nil, subject: record.subject,
            now: await core.providerNow(issuer: record.issuer))
        let context = TokenGrant.Context(
            check: check, scope: record.scope, dpopJkt: key.dpopJkt, needsIDToken: false,
            now: core.environment.clock.now())
        let grant: TokenGrant
        do {
            grant = try TokenGrant(json, context)
        } catch {
            return try await refuse(error, record, key)
        }
        let refreshed = record.refreshed(grant)
        guard try await core.vault.update(refreshed) else {
            // Signed out, or signed in anew, while the refresh was out: nobody will use its tokens.
            await core.revoke(
                refreshed.revocable, issuer: record.issuer, clientId: record.clientId, key: key)
            return try await end(record)
        }
        return .success(refreshed)
    }

    /// The session being refreshed is over. Who asked goes on with that of a sign-in that has taken its
    /// place meanwhile: such a sign-in revokes the old session, whose refresh then fails.
    private func end(_ record: SessionRecord) async throws(AuthnFault) -> RefreshGate.Answer {
        try await core.vault.end(record).map { .success($0) } ?? .failure(.SignInRequired)
    }

    private func refuse(
        _ fault: TokenGrant.Fault, _ record: SessionRecord, _ key: InstallKey
    ) async throws(AuthnFault) -> RefreshGate.Answer {
        switch fault {
        case .malformed, .unbound:
            // Nothing usable came. What was issued may be the very refresh token held here, so it is
            // not revoked.
            return .failure(.Server)
        case .rejected(let issued):
            // Perhaps another user's tokens: this session must not go on (R-000-56).
            let answer = try await end(record)
            await core.revoke(issued, issuer: record.issuer, clientId: record.clientId, key: key)
            return answer
        }
    }

    private func reportInterruption(_ key: InstallKey) {
        core.environment.onDiagnostic?(
            DiagnosticEvent(
                flow: "session", step: "refresh", outcome: .refreshInterrupted, status: nil,
                error: nil, elapsedMilliseconds: 0, jktPrefix: String(key.dpopJkt.prefix(8))))
    }
}
