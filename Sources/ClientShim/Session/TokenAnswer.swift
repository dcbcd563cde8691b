import JOSE

/// A token endpoint's 200 (RFC 6749 §5.1), read but not yet believed.
struct TokenAnswer: Sendable {
    let accessToken: Secret<String>
    let tokenType: String?
    /// Seconds; `nil` when the answer names none, which means "until the API says no".
    let expiresIn: Int64?
    /// `nil` when absent or empty.
    let refreshToken: Secret<String>?
    let idToken: Secret<String>?
    let scope: String?

    static let longestLifetime: Int64 = 365 * 86_400

    /// - Returns: `nil` without an access token: then nothing was issued that could be used.
    init?(_ json: JSONValue) {
        guard let accessToken = json["access_token"]?.string, Self.isTokenText(accessToken) else {
            return nil
        }
        self.accessToken = Secret(accessToken)
        tokenType = json["token_type"]?.string
        expiresIn = json["expires_in"].flatMap(Self.lifetime)
        let refreshToken = json["refresh_token"]?.string
        self.refreshToken = refreshToken.flatMap { $0.isEmpty ? nil : Secret($0) }
        idToken = json["id_token"]?.string.map { Secret($0) }
        scope = json["scope"]?.string
    }

    /// Whether the token is bound to a key as asked; `Bearer` or no type would be a silent downgrade.
    var isDPoP: Bool { tokenType?.lowercased() == "dpop" }

    /// Digits in text are taken, zero or less means "expired at once", more than a year is a year.
    static func lifetime(_ value: JSONValue) -> Int64? {
        let seconds = value.number?.double ?? value.string.flatMap { Int64($0) }.map(Double.init)
        guard let seconds else { return nil }
        return Int64(min(max(seconds, 0), Double(longestLifetime)))
    }

    /// A token goes into a header line: visible ASCII only (RFC 6749 Appendix A.12).
    private static func isTokenText(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }
}
