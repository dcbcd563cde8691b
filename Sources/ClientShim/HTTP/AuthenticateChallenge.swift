/// One challenge of a `WWW-Authenticate` field (RFC 9110 §11.6.1).
struct AuthenticateChallenge: Sendable, Equatable {
    /// Lower case.
    let scheme: String
    /// Names in lower case.
    let parameters: [String: String]

    /// The `error` of the first `DPoP` challenge among all fields, `nil` when there is none.
    static func dpopError(in fields: [String]) -> String? {
        for field in fields {
            for challenge in parse(field) where challenge.scheme == "dpop" {
                if let error = challenge.parameters["error"] { return error }
            }
        }
        return nil
    }

    /// All challenges of one field value, read by the grammar; parsing stops at the first thing that
    /// does not follow it.
    static func parse(_ field: String) -> [AuthenticateChallenge] {
        var scanner = ChallengeScanner(field)
        var challenges: [AuthenticateChallenge] = []
        while let challenge = scanner.challenge() { challenges.append(challenge) }
        return challenges
    }
}

private struct ChallengeScanner {
    private let bytes: [UInt8]
    private var index = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func challenge() -> AuthenticateChallenge? {
        skip { $0.isBlank || $0 == UInt8(ascii: ",") }
        guard let scheme = token() else { return nil }
        var parameters: [String: String] = [:]
        let blanks = skip(\.isBlank)
        guard blanks > 0 else {
            return AuthenticateChallenge(scheme: scheme.lowercased(), parameters: [:])
        }
        if skipToken68() {
            return AuthenticateChallenge(scheme: scheme.lowercased(), parameters: [:])
        }
        skipToParameter()
        while let (name, value) = parameter() {
            // A repeated parameter makes the challenge ambiguous: the first one counts.
            if parameters[name] == nil { parameters[name] = value }
            skip(\.isBlank)
            guard peek == UInt8(ascii: ","), skipToParameter() else { break }
        }
        return AuthenticateChallenge(scheme: scheme.lowercased(), parameters: parameters)
    }

    private var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    @discardableResult
    private mutating func skip(_ isSkipped: (UInt8) -> Bool) -> Int {
        let start = index
        while let byte = peek, isSkipped(byte) { index += 1 }
        return index - start
    }

    private mutating func token() -> String? {
        let start = index
        skip(\.isTokenByte)
        return index > start ? String(decoding: bytes[start..<index], as: UTF8.self) : nil
    }

    /// `token68`, as `Negotiate` uses it: not a parameter, so it must end at a comma or the end.
    private mutating func skipToken68() -> Bool {
        let start = index
        skip { $0.isTokenByte || $0 == UInt8(ascii: "/") }
        skip { $0 == UInt8(ascii: "=") }
        skip(\.isBlank)
        if index > start, peek == nil || peek == UInt8(ascii: ",") { return true }
        index = start
        return false
    }

    /// Skips commas (a list may have empty elements) up to a parameter. What follows a comma is one only
    /// when a "=" comes after its name; otherwise nothing is skipped, since another challenge begins.
    @discardableResult
    private mutating func skipToParameter() -> Bool {
        var ahead = self
        ahead.skip { $0.isBlank || $0 == UInt8(ascii: ",") }
        let start = ahead.index
        guard ahead.token() != nil else { return false }
        ahead.skip(\.isBlank)
        guard ahead.peek == UInt8(ascii: "=") else { return false }
        index = start
        return true
    }

    private mutating func parameter() -> (name: String, value: String)? {
        let start = index
        guard let name = token() else { return nil }
        skip(\.isBlank)
        guard peek == UInt8(ascii: "=") else {
            index = start
            return nil
        }
        index += 1
        skip(\.isBlank)
        guard let value = peek == UInt8(ascii: "\"") ? quotedString() : token() else { return nil }
        return (name.lowercased(), value)
    }

    private mutating func quotedString() -> String? {
        index += 1
        var text: [UInt8] = []
        while let byte = peek {
            index += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = peek else { return nil }
                text.append(escaped)
                index += 1
            } else {
                text.append(byte)
            }
        }
        return nil
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 }

    fileprivate var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
