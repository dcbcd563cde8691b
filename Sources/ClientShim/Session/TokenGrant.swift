import JOSE

/// Tokens that passed the checks of R-000-30 to R-000-32, before they are stored.
struct TokenGrant: Sendable, Equatable {
    let accessToken: Secret<String>
    /// Seconds since 1970 UTC by this device; `nil` when the provider did not say.
    let expiresAt: Int64?
    let refreshToken: Secret<String>?
    /// The checked ID token claims as a JSON object; `{}` when `openid` was not asked for.
    let claims: String
    let subject: String?
    let scope: String

    /// Why an answer is not taken.
    enum Fault: Error, Equatable {
        /// No access token in it.
        case malformed
        /// The access token is not bound to this install's key.
        case unbound(issued: RevocableToken)
        /// The ID token failed a check.
        case rejected(issued: RevocableToken)
    }

    /// What a grant was asked for, and when.
    struct Context: Sendable {
        let check: IDTokenCheck
        let scope: String
        let dpopJkt: String
        /// Whether an ID token must be there.
        let needsIDToken: Bool
        /// Seconds since 1970 UTC by this device.
        let now: Int64
    }

    init(_ json: JSONValue, _ context: Context) throws(Fault) {
        guard let answer = TokenAnswer(json) else { throw .malformed }
        let issued = RevocableToken(
            refreshToken: answer.refreshToken, accessToken: answer.accessToken)
        guard answer.isDPoP, Self.isBound(answer.accessToken, to: context.dpopJkt) else {
            throw .unbound(issued: issued)
        }
        if let idToken = answer.idToken {
            let claims: JSONValue
            do {
                claims = try context.check.claims(of: idToken, accessToken: answer.accessToken)
            } catch {
                throw .rejected(issued: issued)
            }
            var json = JSONWriter(capacity: 512)
            json.value(claims)
            self.claims = json.text
            subject = claims["sub"]?.string
        } else {
            guard !context.needsIDToken else { throw .rejected(issued: issued) }
            claims = "{}"
            subject = nil
        }
        accessToken = answer.accessToken
        // A sum past the largest number cannot happen: the lifetime is capped at a year.
        expiresAt = answer.expiresIn.map { context.now + $0 }
        scope = answer.scope ?? context.scope
        let isOffline = scope.split(separator: " ").contains("offline_access")
        refreshToken = isOffline ? answer.refreshToken : nil
        unstored = isOffline ? nil : answer.refreshToken
    }

    /// A refresh token that came without `offline_access` (R-000-34): not kept.
    let unstored: Secret<String>?

    /// What revoking the grant would name.
    var revocable: RevocableToken {
        RevocableToken(refreshToken: refreshToken ?? unstored, accessToken: accessToken)
    }

    /// A JWT access token names its key (R-000-32); an opaque one is bound at the provider.
    private static func isBound(_ token: Secret<String>, to dpopJkt: String) -> Bool {
        guard let jwt = UnverifiedJWT(token.expose()) else { return true }
        guard let jkt = jwt.claims["cnf"]?["jkt"]?.string else { return false }
        return constantTimeEquals(Array(jkt.utf8), Array(dpopJkt.utf8))
    }
}

/// The token by which a grant is taken back (RFC 7009 §2.1): the refresh token where there is one.
struct RevocableToken: Sendable, Equatable {
    let token: Secret<String>
    let hint: String

    init(refreshToken: Secret<String>?, accessToken: Secret<String>) {
        token = refreshToken ?? accessToken
        hint = refreshToken == nil ? "access_token" : "refresh_token"
    }
}
