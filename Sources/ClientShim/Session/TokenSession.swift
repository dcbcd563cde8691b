/// The signed-in session as the app sees it. The refresh token is reachable through nothing here
/// (R-000-34); the object is a view, so it shows what the store holds now.
public final class TokenSession: Sendable, Equatable, CustomStringConvertible {
    private let core: AuthnCore
    private let grantId: String

    init(core: AuthnCore, record: SessionRecord) {
        self.core = core
        grantId = record.grantId
        issuer = record.issuer
        clientId = record.clientId
        subject = record.subject
    }

    /// The provider that issued it.
    public let issuer: String
    /// The application it was issued to.
    public let clientId: String
    /// `sub` of the checked ID token; `nil` when `openid` was not asked for.
    public let subject: String?

    /// The granted scope, space-separated; empty when the session is over.
    public var scope: String { record?.scope ?? "" }

    /// When the access token ends, seconds since 1970 UTC by this device; `nil` when unknown or over.
    public var accessTokenExpiresAt: Int64? { record?.expiresAt }

    /// The checked ID token claims as a JSON object text; `{}` when there are none.
    public var claims: String { record?.claims ?? "{}" }

    /// Whether a refresh should come before the next request (R-000-42).
    public func needsRefresh() -> Bool {
        record?.needsRefresh(at: core.environment.clock.now()) ?? false
    }

    /// Refreshes the tokens, or joins a refresh under way.
    public func refresh() async throws(RefreshError) {
        guard let record else { throw .SignInRequired }
        let refreshed = try await core.refresh(seen: record)
        guard refreshed.grantId == grantId else { throw .SignInRequired }
    }

    /// The two header lines that attach the session to one request: `Authorization` and `DPoP`.
    /// - Parameters:
    ///   - method: as it goes on the wire.
    ///   - url: absolute; nothing is given for plain `http` (R-000-49).
    /// - Throws: `SignInRequired` when the session is over, `Server` when this device cannot sign.
    public func authorize(method: String, url: String) async throws(RefreshError) -> [HTTPHeader] {
        guard let target = RequestURL(url), target.isSecure else { return [] }
        let stored = await core.storedSession()
        guard let record = stored, record.grantId == grantId else { throw .SignInRequired }
        guard let proof = await core.attach(record, method: method, target) else { throw .Server }
        return proof.headers
    }

    /// Tells the session what came back; records the nonce.
    /// - Returns: whether R-000-45 asks for one repeat with a new proof.
    public func observeResponse(
        url: String, status: Int, wwwAuthenticate: [String], dpopNonce: String?
    ) -> Bool {
        guard let origin = RequestURL(url)?.origin, let dpopNonce else { return false }
        let isFresh = core.nonces.nonce(for: origin) != dpopNonce
        core.nonces.record(dpopNonce, for: origin)
        let error = AuthenticateChallenge.dpopError(in: wwwAuthenticate)
        return isFresh && status == 401 && error == "use_dpop_nonce"
    }

    /// Whether R-000-46 asks for one refresh and one repeat.
    public func shouldRefreshAfter(status: Int, wwwAuthenticate: [String]) -> Bool {
        status == 401 && AuthenticateChallenge.dpopError(in: wwwAuthenticate) == "invalid_token"
    }

    /// Never a token.
    public var description: String { "TokenSession(\(clientId) at \(issuer))" }

    /// Whether both are views of one sign-in.
    public static func == (left: TokenSession, right: TokenSession) -> Bool {
        left.grantId == right.grantId
    }

    private var record: SessionRecord? {
        core.vault.lastSeen.flatMap { $0.grantId == grantId ? $0 : nil }
    }
}
