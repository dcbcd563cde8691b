import JOSE

/// What a refresh request brings.
struct RefreshAttempt: Sendable {
    let refreshToken: String
    let clientId: String
    let jkt: DpopJkt
    /// The scope asked for, `nil` for the whole of the grant.
    let scope: Scope?
    let resource: String?
    /// The token that takes the old one's place; `nil` when the provider does not rotate, as FAPI providers do not
    /// (FAPI 2.0 §5.3.2.1 item 9).
    let successor: String?
}

extension Authorizations {
    /// Uses a refresh token (RFC 6749 §6).
    ///
    /// A token that a newer one replaced is taken for stolen: the whole family is revoked, the newest token included
    /// (RFC 9700 §4.14.2, R-002-31).
    ///
    /// - Returns: the grant, and the scope of the new access token.
    mutating func refresh(
        _ attempt: RefreshAttempt, lifetimes: Lifetimes, now: Int64
    ) throws(OAuthFault) -> (grant: Grant, scope: Scope) {
        let digest = TokenDigest(of: attempt.refreshToken)
        guard let token = refreshTokens[digest], var grant = grants[token.grantId] else {
            throw .invalidGrant(.unknown)
        }
        guard grant.clientId == attempt.clientId else { throw .invalidGrant(.anotherClient) }
        guard !grant.isRevoked else { throw .invalidGrant(.revoked) }
        guard !token.isSpent else {
            revoke(grantId: grant.id)
            throw .invalidGrant(.used)
        }
        guard grant.jkt == attempt.jkt else { throw .invalidGrant(.anotherKey) }
        guard now < grant.refreshEndsAt, now < grant.refreshedAt + lifetimes.refreshTokenIdle else {
            throw .invalidGrant(.expired)
        }
        let scope = attempt.scope ?? grant.scope
        guard scope.isWithin(grant.scope.values) else { throw .invalidScope }
        guard attempt.resource == nil || attempt.resource == grant.resource else {
            throw .invalidTarget
        }
        grant.refreshedAt = now
        if let successor = attempt.successor {
            refreshTokens[digest]?.isSpent = true
            grant.refreshToken = TokenDigest(of: successor)
            refreshTokens[TokenDigest(of: successor)] = RefreshToken(grantId: grant.id)
        }
        grants[grant.id] = grant
        return (grant, scope)
    }

    /// Revokes the grant of a refresh token; one that is not known is not an error (RFC 7009 §2.2).
    ///
    /// - Returns: whether the token is one of ours, of whatever state.
    mutating func revoke(refreshToken: String, clientId: String) throws(OAuthFault) -> Bool {
        guard let token = refreshTokens[TokenDigest(of: refreshToken)],
            let grant = grants[token.grantId]
        else { return false }
        try revoke(grant, clientId: clientId)
        return true
    }

    /// Revokes a grant on behalf of a client, which must be the one it was made for (RFC 7009 §2.1).
    mutating func revoke(grantId: String, clientId: String) throws(OAuthFault) {
        guard let grant = grants[grantId] else { return }
        try revoke(grant, clientId: clientId)
    }

    private mutating func revoke(_ grant: Grant, clientId: String) throws(OAuthFault) {
        guard grant.clientId == clientId else { throw .invalidGrant(.anotherClient) }
        revoke(grantId: grant.id)
    }
}
