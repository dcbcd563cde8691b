import JOSE

/// The parts of a request to an API that decide whether it may be served, taken from whatever server there is.
struct ResourceRequest: Sendable {
    /// As it came on the wire.
    var method: String
    /// The request's public URI.
    var uri: HTTPTargetURI
    /// What followed `?`.
    var query: String?
    /// The values of all `Authorization` fields.
    var authorization: [String]
    /// The values of all `DPoP` fields.
    var proofs: [String]

    /// The token of the one `Authorization` field, which must use the scheme `DPoP`.
    func accessToken() throws(ResourceRefusal) -> String {
        let names = query?.split(separator: "&").map { $0.prefix { $0 != "=" } } ?? []
        guard !names.contains("access_token") else { throw .malformedRequest }
        guard let field = authorization.first else { throw .noCredentials }
        guard authorization.count == 1 else { throw .malformedRequest }
        let parts = field.split(separator: " ", omittingEmptySubsequences: false)
        // Scheme names compare without regard to letter case (RFC 9110 §11.1).
        guard let scheme = parts.first?.lowercased() else { throw .noCredentials }
        // A bound token under `Bearer` must be refused (R-000-81), and every token here is bound.
        guard scheme != "bearer" else { throw .invalidToken(.bearer) }
        guard scheme == "dpop" else { throw .noCredentials }
        guard parts.count == 2, !parts[1].isEmpty, parts[1].utf8.allSatisfy(Self.isToken68) else {
            throw .malformedRequest
        }
        return String(parts[1])
    }

    private static func isToken68(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~+/=".utf8.contains(octet)
        }
    }
}
