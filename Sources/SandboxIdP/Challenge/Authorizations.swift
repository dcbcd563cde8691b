import JOSE

/// Sign-ins under way, their authorization codes, and the grants that came of them.
///
/// Every method is one decision: it takes what was proven and the time, and either changes the state or throws. Fresh
/// secrets are drawn by the caller.
struct Authorizations: Sendable {
    /// Where a code stands.
    enum CodeFate: Sendable, Equatable {
        case fresh
        /// Another code of the session took its place before it was used.
        case superseded
        case spent(grantId: String)
    }

    struct Code: Sendable {
        let sid: String
        let issuedAt: Int64
        var fate = CodeFate.fresh
    }

    /// Where a refresh token stands.
    struct RefreshToken: Sendable {
        let grantId: String
        var isSpent = false
    }

    private(set) var sessions: [String: ChallengeSession] = [:]
    var handles: [TokenDigest: String] = [:]
    var codes: [TokenDigest: Code] = [:]
    var grants: [String: Grant] = [:]
    var refreshTokens: [TokenDigest: RefreshToken] = [:]
    private var sweepAt = 1024

    /// Seconds a session is remembered after its end, so that a late code is known for what it is.
    private static let afterlife: Int64 = 3600

    /// Opens a session that is found by its `auth_session`.
    mutating func open(_ session: ChallengeSession, authSession: String, now: Int64) {
        if sessions.count >= sweepAt { sweep(now) }
        sessions[session.sid] = session
        handles[TokenDigest(of: authSession)] = session.sid
    }

    /// The session of an `auth_session`, for the client and the key that began it.
    func session(
        authSession: String, clientId: String, jkt: DpopJkt, now: Int64
    ) throws(OAuthFault) -> ChallengeSession {
        guard let sid = handles[TokenDigest(of: authSession)], let session = sessions[sid] else {
            throw .invalidSession(.unknown)
        }
        guard session.clientId == clientId else { throw .invalidSession(.anotherClient) }
        guard session.jkt == jkt else { throw .invalidDPoPProof(.anotherKey) }
        guard !session.hasExpired(now) else { throw .invalidSession(.expired) }
        if case .ended = session.stage { throw .invalidSession(.ended) }
        return session
    }

    /// Takes an accepted ceremony, or the same bytes again, and hands out `code`.
    ///
    /// A re-send puts the new code in the old one's place. When the old one was already spent, the exchange whose answer
    /// was lost has a grant that nobody holds: it is revoked, so that a sign-in ends with one live grant (R-000-25).
    ///
    /// - Returns: whether this was the first time, when the rotated face token is to be stored.
    mutating func complete(
        sid: String, with response: TokenDigest, by enrolment: Enrolment, code: String, now: Int64
    ) throws(OAuthFault) -> Bool {
        guard var session = sessions[sid] else { throw .invalidSession(.unknown) }
        let digest = TokenDigest(of: code)
        let isFirst: Bool
        switch session.stage {
        case .ended: throw .invalidSession(.ended)
        case .open:
            isFirst = true
            session.stage = .completed(
                ChallengeSession.Completion(
                    digest: response, keyId: enrolment.keyId, subject: enrolment.subject,
                    authTime: now, code: digest))
        case .completed(var completion):
            isFirst = false
            guard completion.digest == response else {
                throw .deviceRequest(.anotherCompletion)
            }
            try replaceCode(of: &completion, with: digest)
            session.stage = .completed(completion)
        }
        codes[digest] = Code(sid: sid, issuedAt: now)
        sessions[sid] = session
        return isFirst
    }

    private mutating func replaceCode(
        of completion: inout ChallengeSession.Completion, with digest: TokenDigest
    ) throws(OAuthFault) {
        switch codes[completion.code]?.fate {
        case .spent(let grantId):
            guard completion.replacements < ChallengeSession.maximumReplacements else {
                throw .invalidSession(.replacementCodesSpent)
            }
            completion.replacements += 1
            revoke(grantId: grantId)
        case .fresh: codes[completion.code]?.fate = .superseded
        case .superseded, nil: break
        }
        completion.code = digest
    }

    /// Ends a session: its code is void and what came of it is revoked. Ending it again changes nothing.
    mutating func end(sid: String) {
        guard var session = sessions[sid] else { return }
        if case .completed(let completion) = session.stage {
            switch codes[completion.code]?.fate {
            case .spent(let grantId): revoke(grantId: grantId)
            case .fresh: codes[completion.code]?.fate = .superseded
            case .superseded, nil: break
            }
        }
        session.stage = .ended
        sessions[sid] = session
    }

    /// Revokes a grant with all its tokens.
    mutating func revoke(grantId: String) {
        grants[grantId]?.isRevoked = true
    }

    /// Whether tokens of that grant may still be used.
    func isLive(grantId: String) -> Bool {
        grants[grantId]?.isRevoked == false
    }

    private mutating func sweep(_ now: Int64) {
        sessions = sessions.filter { $0.value.expiresAt + Self.afterlife > now }
        handles = handles.filter { sessions[$0.value] != nil }
        codes = codes.filter { sessions[$0.value.sid] != nil }
        grants = grants.filter { $0.value.refreshEndsAt + Self.afterlife > now }
        refreshTokens = refreshTokens.filter { grants[$0.value.grantId] != nil }
        sweepAt = max(1024, sessions.count * 2)
    }
}
