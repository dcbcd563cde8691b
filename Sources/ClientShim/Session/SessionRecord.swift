import JOSE

/// The stored session (R-000-34). There is at most one (R-100-14).
struct SessionRecord: Sendable, Equatable {
    /// Names the sign-in this session came from, so that a late refresh cannot write over another one.
    let grantId: String
    let issuer: String
    let clientId: String
    /// The key the tokens are bound to (R-100-15).
    let dpopJkt: String
    var accessToken: Secret<String>
    /// Seconds since 1970 UTC by this device; `nil` when the provider did not say.
    var expiresAt: Int64?
    var refreshToken: Secret<String>?
    /// The checked ID token claims, a JSON object.
    var claims: String
    var subject: String?
    var scope: String

    init(_ grant: TokenGrant, grantId: String, issuer: String, clientId: String, dpopJkt: String) {
        self.grantId = grantId
        self.issuer = issuer
        self.clientId = clientId
        self.dpopJkt = dpopJkt
        accessToken = grant.accessToken
        expiresAt = grant.expiresAt
        refreshToken = grant.refreshToken
        claims = grant.claims
        subject = grant.subject
        scope = grant.scope
    }

    /// The same session after a refresh. A refresh answer without a refresh token keeps the old one,
    /// one without an ID token the old claims.
    func refreshed(_ grant: TokenGrant) -> SessionRecord {
        var record = self
        record.accessToken = grant.accessToken
        record.expiresAt = grant.expiresAt
        record.refreshToken = grant.refreshToken ?? grant.unstored ?? refreshToken
        record.scope = grant.scope
        if let subject = grant.subject {
            record.subject = subject
            record.claims = grant.claims
        }
        return record
    }

    func isExpired(at now: Int64) -> Bool { expiresAt.map { $0 <= now } ?? false }

    /// R-000-42: a refresh token is held and the access token has 30 seconds or less to live.
    func needsRefresh(at now: Int64) -> Bool {
        refreshToken != nil && (expiresAt.map { $0 - now <= 30 } ?? false)
    }

    /// R-000-50: without a refresh token a session lasts as long as its access token.
    func isOver(at now: Int64) -> Bool { refreshToken == nil && isExpired(at: now) }

    var revocable: RevocableToken {
        RevocableToken(refreshToken: refreshToken, accessToken: accessToken)
    }

    init?(bytes: [UInt8]) {
        guard let json = try? JSONValue(parsing: bytes), let grantId = json["grant_id"]?.string,
            let issuer = json["issuer"]?.string, let clientId = json["client_id"]?.string,
            let jkt = json["dpop_jkt"]?.string, let access = json["access_token"]?.string,
            let claims = json["claims"]?.string, let scope = json["scope"]?.string
        else { return nil }
        self.grantId = grantId
        self.issuer = issuer
        self.clientId = clientId
        dpopJkt = jkt
        accessToken = Secret(access)
        expiresAt = json["expires_at"]?.integer
        refreshToken = (json["refresh_token"]?.string).map { Secret($0) }
        self.claims = claims
        subject = json["sub"]?.string
        self.scope = scope
    }

    var json: JSONWriter {
        var json = JSONWriter(capacity: 1024)
        json.object {
            $0.member("grant_id", grantId)
            $0.member("issuer", issuer)
            $0.member("client_id", clientId)
            $0.member("dpop_jkt", dpopJkt)
            $0.member("access_token", accessToken.expose())
            if let expiresAt { $0.member("expires_at", expiresAt) }
            if let refreshToken { $0.member("refresh_token", refreshToken.expose()) }
            $0.member("claims", claims)
            if let subject { $0.member("sub", subject) }
            $0.member("scope", scope)
        }
        return json
    }
}
