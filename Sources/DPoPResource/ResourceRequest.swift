public import JOSE

/// The parts of a request to an API that decide whether it may be served, taken from whatever server there is.
public struct ResourceRequest: Sendable {
    /// As it came on the wire.
    public let method: String
    /// The request's public URI.
    public let uri: HTTPTargetURI
    /// What followed `?`.
    public let query: String?
    /// The values of all `Authorization` fields.
    public let authorization: [String]
    /// The values of all `DPoP` fields.
    public let proofs: [String]

    /// A request whose parts the server already knows apart.
    ///
    /// - Parameter uri: made from the API's configured public origin, never from `Host`.
    public init(
        method: String, uri: HTTPTargetURI, query: String?, authorization: [String],
        proofs: [String]
    ) {
        self.method = method
        self.uri = uri
        self.query = query
        self.authorization = authorization
        self.proofs = proofs
    }

    /// A request as it came.
    ///
    /// - Parameters:
    ///   - origin: where clients reach the API, from its configuration: `https://api.example`, without a path.
    ///   - target: the request's target in origin form: path and query, still escaped.
    ///   - fields: all header fields, each line its own; names in any letter case.
    /// - Throws: `malformedRequest` when the target cannot stand in a URI.
    public init(
        method: String, origin: String, target: String,
        fields: some Sequence<(name: String, value: String)>
    ) throws(ResourceRefusal) {
        guard target.utf8.first == UInt8(ascii: "/"), let uri = HTTPTargetURI(origin + target)
        else { throw .malformedRequest }
        self.method = method
        self.uri = uri
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        query = parts.count == 2 ? String(parts[1]) : nil
        authorization = fields.filter { $0.name.lowercased() == "authorization" }.map(\.value)
        proofs = fields.filter { $0.name.lowercased() == "dpop" }.map(\.value)
    }

    /// The token of the one `Authorization` field, which must use the scheme `DPoP`.
    func accessToken() throws(ResourceRefusal) -> String {
        guard !Self.namesToken(query) else { throw .malformedRequest }
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

    /// Whether the query has a parameter `access_token`, however its name is escaped (FAPI 2.0 §5.3.4).
    private static func namesToken(_ query: String?) -> Bool {
        guard let query else { return false }
        return query.split(separator: "&").contains { parameter in
            unescaped(parameter.prefix { $0 != "=" }) == Array("access_token".utf8)
        }
    }

    private static func unescaped(_ text: Substring) -> [UInt8] {
        var octets: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let octet = rest.popFirst() {
            if octet == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                octets.append(value)
                rest = rest.dropFirst(2)
            } else {
                octets.append(octet)
            }
        }
        return octets
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
