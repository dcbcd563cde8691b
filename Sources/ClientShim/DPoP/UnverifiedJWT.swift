import JOSE

/// Header and claims of a compact JWS whose signature is not checked here: an assertion on its way to
/// the provider, or a token that came straight from the token endpoint over TLS (R-000-31).
struct UnverifiedJWT: Sendable {
    let header: JSONValue
    let claims: JSONValue

    /// - Returns: `nil` for anything but three base64url parts, the first two of which are JSON objects.
    init?(_ text: String) {
        let parts = text.utf8.split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[2].isEmpty, Base64URL.decode(parts[2]) != nil,
            let header = Self.object(parts[0]), let claims = Self.object(parts[1])
        else { return nil }
        self.header = header
        self.claims = claims
    }

    /// The `alg`, when it is one of the signature algorithms of FAPI 2.0 §5.4.1 that are used here.
    var algorithm: JWSAlgorithm? {
        header["alg"]?.string.flatMap(JWSAlgorithm.init(rawValue:))
    }

    private static func object(_ part: Substring.UTF8View) -> JSONValue? {
        guard let bytes = Base64URL.decode(part), let value = try? JSONValue(parsing: bytes),
            value.members != nil
        else { return nil }
        return value
    }
}
