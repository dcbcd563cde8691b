/// A scope parameter: unique scope tokens in the order they were asked for (RFC 6749 §3.3).
struct Scope: Sendable, Equatable {
    let values: [String]

    static let openid = "openid"
    static let offlineAccess = "offline_access"

    /// The scope of a request that names none.
    static let standard = Scope(values: [openid])

    private init(values: [String]) {
        self.values = values
    }

    /// `nil` for a character no scope token has, or a doubled separator.
    init?(_ text: String) {
        let parts = text.utf8.split(separator: 0x20, omittingEmptySubsequences: false)
        var values: [String] = []
        for part in parts {
            guard !part.isEmpty, part.allSatisfy(Self.isScopeOctet),
                let value = String(part)
            else { return nil }
            if !values.contains(value) { values.append(value) }
        }
        self.values = values
    }

    func contains(_ value: String) -> Bool { values.contains(value) }

    /// Whether nothing is asked for that `allowed` lacks.
    func isWithin(_ allowed: [String]) -> Bool {
        values.allSatisfy(allowed.contains)
    }

    /// As it stands in a parameter.
    var text: String { values.joined(separator: " ") }

    private static func isScopeOctet(_ octet: UInt8) -> Bool {
        octet == 0x21 || (0x23...0x5b).contains(octet) || (0x5d...0x7e).contains(octet)
    }
}
