import JOSE

/// An absolute http(s) URL as a proof, a nonce table and the token rules need it.
struct RequestURL: Sendable, Equatable {
    /// Without user part, query and fragment.
    let target: HTTPTargetURI

    /// - Returns: `nil` for anything but an absolute http(s) URL with a host.
    init?(_ text: String) {
        guard let target = HTTPTargetURI(Self.withoutUser(text)) else { return nil }
        self.target = target
    }

    /// Scheme, host and effective port: what owns a nonce (R-100-32) and may get a token.
    var origin: String { target.origin }

    var isSecure: Bool { target.isSecure }

    /// Whether a request may go there at all (R-100-25).
    func isAllowed(insecureLoopback: Bool) -> Bool {
        target.isSecure
            || (insecureLoopback && ["localhost", "127.0.0.1", "[::1]"].contains(target.host))
    }

    /// A user part never belongs into `htu`, and a request URL may have one.
    private static func withoutUser(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "@")), let mark = text.firstRange(of: "://") else {
            return text
        }
        let rest = text[mark.upperBound...]
        let authority = rest.prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return text }
        return String(text[..<mark.upperBound]) + rest[rest.index(after: at)...]
    }
}
