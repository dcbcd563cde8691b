/// Where a request goes.
enum Route: Sendable, Equatable {
    case metadata
    case jwks
    case challenge
    case token
    case revocation
    case faceToken(sid: String)
    case abort(sid: String)
    case enrolments
    case applications
    case keys
    case accounts
    case transfers

    /// What a body must be.
    enum BodyType: String, Sendable {
        case none
        case form = "application/x-www-form-urlencoded"
        case json = "application/json"
        case jose = "application/jose"
    }

    /// The route of a path below the issuer's; `nil` when there is none.
    init?(path: String, basePath: String) {
        // RFC 8414 §3.1 puts the well-known part before the issuer's path, OpenID Discovery §4 after it.
        if path == Path.oauthMetadata + basePath {
            self = .metadata
            return
        }
        guard path.hasPrefix(basePath) else { return nil }
        switch String(path.dropFirst(basePath.count)) {
        case Path.openIdConfiguration, Path.oauthMetadata: self = .metadata
        case Path.jwks: self = .jwks
        case Path.challenge: self = .challenge
        case Path.token: self = .token
        case Path.revocation: self = .revocation
        case Path.enrolments: self = .enrolments
        case Path.applications: self = .applications
        case Path.keys: self = .keys
        case Path.api + "/accounts": self = .accounts
        case Path.api + "/transfers": self = .transfers
        case let other:
            guard let ceremony = Self.ceremony(other) else { return nil }
            self = ceremony
        }
    }

    private static func ceremony(_ path: String) -> Route? {
        let prefix = Path.portal + "/ceremonies/"
        guard path.hasPrefix(prefix) else { return nil }
        let parts = path.dropFirst(prefix.count).split(
            separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, isSid(parts[0]) else { return nil }
        switch parts[1] {
        case "face-token": return .faceToken(sid: String(parts[0]))
        case "abort": return .abort(sid: String(parts[0]))
        default: return nil
        }
    }

    private static func isSid(_ text: Substring) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5a).contains($0)
                    || (0x61...0x7a).contains($0) || $0 == 0x2d || $0 == 0x5f
            }
    }

    /// The path below the issuer, for `htu`.
    var path: String {
        switch self {
        case .metadata: Path.openIdConfiguration
        case .jwks: Path.jwks
        case .challenge: Path.challenge
        case .token: Path.token
        case .revocation: Path.revocation
        case .faceToken(let sid): Path.portal + "/ceremonies/\(sid)/face-token"
        case .abort(let sid): Path.portal + "/ceremonies/\(sid)/abort"
        case .enrolments: Path.enrolments
        case .applications: Path.applications
        case .keys: Path.keys
        case .accounts: Path.api + "/accounts"
        case .transfers: Path.api + "/transfers"
        }
    }

    /// What the log calls it.
    var pattern: String {
        switch self {
        case .faceToken: Path.portal + "/ceremonies/{sid}/face-token"
        case .abort: Path.portal + "/ceremonies/{sid}/abort"
        default: path
        }
    }

    var methods: [String] {
        switch self {
        case .metadata, .jwks: ["GET", "HEAD"]
        case .challenge, .token, .revocation, .faceToken, .abort, .enrolments, .applications, .keys:
            ["POST"]
        case .accounts, .transfers: ["GET", "POST"]
        }
    }

    var bodyType: BodyType {
        switch self {
        case .metadata, .jwks, .accounts, .transfers: .none
        case .challenge, .token, .revocation: .form
        case .faceToken, .abort: .jose
        case .enrolments, .applications, .keys: .json
        }
    }

    /// Octets of a body at most.
    static let bodyLimit = 64 * 1024
}
