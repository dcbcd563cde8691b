/// An absolute `http` or `https` URI in the two forms DPoP needs (RFC 9449 §4.2, §4.3; RFC 3986 §6.2.2, §6.2.3).
public struct HTTPTargetURI: Sendable, Hashable {
    /// What a client writes into `htu`: lower-case scheme and host, no default port, `/` for an empty path, the path
    /// otherwise untouched, no query and no fragment.
    public let htu: String
    /// What a server compares: as `htu`, with dot segments resolved, escape hex in upper case and escaped unreserved characters
    /// decoded. `%2F` and a trailing slash stay.
    public let normalized: String
    /// Scheme, host and effective port: `https://api.example:443`. Nonces are kept by it.
    public let origin: String
    /// Whether the scheme is `https`.
    public let isSecure: Bool
    /// The host in lower case, IPv6 in brackets.
    public let host: String

    /// `nil` for another scheme, user information, a bad port, a bad escape or characters no URI has.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.allSatisfy(\.isAllowedInURI),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[colon...].starts(with: "://".utf8)
        else { return nil }
        let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        guard scheme == "https" || scheme == "http" else { return nil }
        let rest = bytes[(colon + 3)...]
        let authorityEnd =
            rest.firstIndex { $0 == UInt8(ascii: "/") || $0.endsPath } ?? rest.endIndex
        guard let (host, port) = Self.authority(rest[..<authorityEnd]) else { return nil }
        let pathEnd = rest[authorityEnd...].firstIndex(where: \.endsPath) ?? rest.endIndex
        let path = rest[authorityEnd..<pathEnd]
        guard let normalizedPath = Self.normalize(path) else { return nil }

        isSecure = scheme == "https"
        self.host = host
        let defaultPort: UInt16 = isSecure ? 443 : 80
        let site = scheme + "://" + host
        let portText = ":" + String(port ?? defaultPort)
        let base = port == nil || port == defaultPort ? site : site + portText
        htu = base + (path.isEmpty ? "/" : String(decoding: path, as: UTF8.self))
        normalized = base + normalizedPath
        origin = site + portText
    }

    private static func authority(_ text: ArraySlice<UInt8>) -> (host: String, port: UInt16?)? {
        guard !text.contains(UInt8(ascii: "@")) else { return nil }
        var host = text
        var port: UInt16?
        let afterBracket = text.lastIndex(of: UInt8(ascii: "]")).map { $0 + 1 } ?? text.startIndex
        if let colon = text[afterBracket...].firstIndex(of: UInt8(ascii: ":")) {
            host = text[..<colon]
            let digits = text[(colon + 1)...]
            guard digits.count <= 5, digits.allSatisfy(\.isDigit) else { return nil }
            if !digits.isEmpty {
                guard let number = UInt16(String(decoding: digits, as: UTF8.self)), number > 0
                else { return nil }
                port = number
            }
        }
        guard isHost(host) else { return nil }
        return (String(decoding: host, as: UTF8.self).lowercased(), port)
    }

    private static func isHost(_ host: ArraySlice<UInt8>) -> Bool {
        guard let first = host.first, let last = host.last else { return false }
        if first == UInt8(ascii: "[") {
            let inner = host.dropFirst().dropLast()
            return last == UInt8(ascii: "]") && !inner.isEmpty
                && inner.allSatisfy { $0.hexValue != nil || ":.".utf8.contains($0) }
        }
        return host.allSatisfy { $0.isUnreserved }
    }

    private static func normalize(_ path: ArraySlice<UInt8>) -> String? {
        guard !path.isEmpty else { return "/" }
        // Nearly every path holds neither an escape nor a dot segment.
        guard path.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: ".") }) else {
            return String(decoding: path, as: UTF8.self)
        }
        guard let unescaped = normalizeEscapes(path) else { return nil }
        var segments: [[UInt8]] = []
        let parts = unescaped.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .dropFirst()
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            switch Array(part) {
            case Array(".".utf8):
                if isLast { segments.append([]) }
            case Array("..".utf8):
                _ = segments.popLast()
                if isLast { segments.append([]) }
            case let segment: segments.append(segment)
            }
        }
        return "/"
            + String(
                decoding: Array(segments.joined(separator: [UInt8(ascii: "/")])), as: UTF8.self)
    }

    private static func normalizeEscapes(_ path: ArraySlice<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        var index = path.startIndex
        while index < path.endIndex {
            guard path[index] == UInt8(ascii: "%") else {
                result.append(path[index])
                index += 1
                continue
            }
            guard index + 2 < path.endIndex, let high = path[index + 1].hexValue,
                let low = path[index + 2].hexValue
            else { return nil }
            let byte = UInt8(high << 4 | low)
            if byte.isUnreserved {
                result.append(byte)
            } else {
                result.append(UInt8(ascii: "%"))
                result.append(contentsOf: [upperHex[Int(high)], upperHex[Int(low)]])
            }
            index += 3
        }
        return result
    }

    private static let upperHex = Array("0123456789ABCDEF".utf8)
}

extension UInt8 {
    /// Visible ASCII without the characters that no URI has (RFC 3986, appendix A).
    fileprivate var isAllowedInURI: Bool {
        switch self {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"),
            UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"),
            UInt8(ascii: "}"):
            false
        default: self > 0x20 && self < 0x7f
        }
    }

    /// Whether a query or a fragment begins here.
    fileprivate var endsPath: Bool { self == UInt8(ascii: "?") || self == UInt8(ascii: "#") }

    /// RFC 3986 §2.3.
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
