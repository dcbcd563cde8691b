import JOSE

/// What a user granted an application: every token points back to it, so that all can be revoked at once.
struct Grant: Sendable, Equatable {
    /// Named in access tokens, so that an API can ask whether the grant still lives.
    let id: String
    let clientId: String
    /// The key all its tokens are bound to.
    let jkt: DpopJkt
    let subject: String
    let email: String
    let scope: Scope
    let resource: String?
    /// The ID token's `nonce`.
    let nonce: String?
    /// When the user was authenticated, seconds since 1970 UTC.
    let authTime: Int64
    /// When the refresh tokens end for good, seconds since 1970 UTC.
    let refreshEndsAt: Int64
    /// When the newest refresh token was made or used last, seconds since 1970 UTC.
    var refreshedAt: Int64
    /// The newest refresh token, when `offline_access` was granted.
    var refreshToken: TokenDigest?
    var isRevoked = false
}

/// How long things live, in seconds.
struct Lifetimes: Sendable, Equatable {
    /// An authorization code (FAPI 2.0 §5.3.2.1: 60 at most).
    static let code: Int64 = 60

    var session: Int64 = 300
    var accessToken: Int64 = 300
    /// A refresh token that is not used.
    var refreshTokenIdle: Int64 = 3600
    /// All refresh tokens of a sign-in together.
    var refreshToken: Int64 = 28_800
}
