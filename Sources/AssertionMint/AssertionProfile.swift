/// How a client's assertions look, beyond what is fixed for all.
public struct AssertionProfile: Hashable, Sendable {
    /// The header's `typ`.
    public enum HeaderType: String, Sendable, CaseIterable {
        /// What draft-ietf-oauth-rfc7523bis asks of clients; the default.
        case clientAuthentication = "client-authentication+jwt"
        /// For a provider that chokes on the new type.
        case jwt = "JWT"
        /// No `typ` at all.
        case none = "none"
    }

    /// The header's `typ`.
    public let type: HeaderType
    /// Seconds from `iat` to `exp`, 10 to 300.
    public let lifetime: Int64
    /// Seconds `iat` lies before the clock, 0 to 10.
    public let backdating: Int64
    /// Whether `cnf.jkt` names the install the assertion was made for.
    public let bindsInstall: Bool

    /// The allowed lifetimes in seconds.
    public static let lifetimes: ClosedRange<Int64> = 10...300
    /// The allowed back-dating in seconds.
    public static let backdatings: ClosedRange<Int64> = 0...10

    /// `nil` when a number is outside its range.
    public init?(
        type: HeaderType = .clientAuthentication, lifetime: Int64 = 60, backdating: Int64 = 0,
        bindsInstall: Bool = true
    ) {
        guard Self.lifetimes.contains(lifetime), Self.backdatings.contains(backdating) else {
            return nil
        }
        self.type = type
        self.lifetime = lifetime
        self.backdating = backdating
        self.bindsInstall = bindsInstall
    }
}
