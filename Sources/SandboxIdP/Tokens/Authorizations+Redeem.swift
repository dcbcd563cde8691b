import JOSE

/// What a token request with a code brings.
struct CodeRedemption: Sendable {
    let code: String
    let verifier: String
    let clientId: String
    let jkt: DpopJkt
    let resource: String?
    /// Fresh ids for the grant and for a refresh token, in case it gets one.
    let grantId: String
    let refreshToken: String
}

extension Authorizations {
    /// Spends a code and makes the grant it stands for (RFC 6749 §4.1.3, RFC 7636 §4.6, RFC 9449 §10).
    ///
    /// A code that was spent before gives `invalid_grant`, and what it led to is revoked (RFC 6749 §4.1.2).
    mutating func redeem(
        _ redemption: CodeRedemption, lifetimes: Lifetimes, now: Int64
    ) throws(OAuthFault) -> Grant {
        let digest = TokenDigest(of: redemption.code)
        guard let code = codes[digest], let session = sessions[code.sid],
            case .completed(let completion) = session.stage
        else { throw .invalidGrant(.unknown) }
        guard session.clientId == redemption.clientId else { throw .invalidGrant(.anotherClient) }
        guard session.jkt == redemption.jkt else { throw .invalidGrant(.anotherKey) }
        switch code.fate {
        case .fresh: break
        case .superseded: throw .invalidGrant(.superseded)
        case .spent(let grantId):
            revoke(grantId: grantId)
            // A session whose newest code leaked hands out no other.
            if completion.code == digest { end(sid: code.sid) }
            throw .invalidGrant(.used)
        }
        guard now - code.issuedAt <= Lifetimes.code else { throw .invalidGrant(.expired) }
        guard session.challenge.isMet(by: redemption.verifier) else {
            throw .invalidGrant(.verifier)
        }
        guard redemption.resource == nil || redemption.resource == session.resource else {
            throw .invalidTarget
        }
        let grant = grant(redemption, session, completion, lifetimes, now)
        codes[digest]?.fate = .spent(grantId: grant.id)
        grants[grant.id] = grant
        if let token = grant.refreshToken {
            refreshTokens[token] = RefreshToken(grantId: grant.id)
        }
        return grant
    }

    private func grant(
        _ redemption: CodeRedemption, _ session: ChallengeSession,
        _ completion: ChallengeSession.Completion, _ lifetimes: Lifetimes, _ now: Int64
    ) -> Grant {
        let staysSignedIn = session.scope.contains(Scope.offlineAccess)
        return Grant(
            id: redemption.grantId, clientId: session.clientId, jkt: session.jkt,
            subject: completion.subject, email: session.email, scope: session.scope,
            resource: session.resource, nonce: session.nonce, authTime: completion.authTime,
            refreshEndsAt: now + lifetimes.refreshToken, refreshedAt: now,
            refreshToken: staysSignedIn ? TokenDigest(of: redemption.refreshToken) : nil)
    }
}
