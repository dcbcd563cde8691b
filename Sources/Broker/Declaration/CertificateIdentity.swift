import JOSE
import SocketServer

/// Whose client certificate passes a client's `mtls` gate: one subject alternative name, or one certificate by its thumbprint.
///
/// A name is compared whole; there are no patterns, neither here nor in a certificate.
enum CertificateIdentity: Hashable, Sendable {
    case name(ClientCertificate.Name)
    /// SHA-256 of the certificate's DER form, 32 octets (RFC 8705 §3.1).
    case sha256([UInt8])

    /// Reads `{ san_dns: "backend.bank.example" }` and its like: an object with exactly one member.
    init?(_ json: JSONValue) {
        guard let members = json.members, members.count == 1, let text = members[0].value.string
        else { return nil }
        let identity: CertificateIdentity? =
            switch members[0].name {
            case "san_dns": Self.dns(text)
            case "san_uri": Self.uri(text)
            case "san_email": Self.email(text)
            case "san_ip": Self.ip(text)
            case "sha256": Self.thumbprint(text)
            default: nil
            }
        guard let identity else { return nil }
        self = identity
    }

    static let expectation =
        "must be one of { san_dns: a host name }, { san_uri }, { san_email }, { san_ip }, each whole and without a wildcard, "
        + "or { sha256: 64 hex digits or 43 of base64url }"

    /// Everything a certificate can be named by.
    static func all(of certificate: ClientCertificate) -> [CertificateIdentity] {
        [.sha256(certificate.sha256)] + certificate.names.map { .name($0) }
    }

    func write(to json: inout JSONWriter) {
        json.object {
            switch self {
            case .name(.dns(let name)): $0.member("san_dns", name)
            case .name(.uri(let uri)): $0.member("san_uri", uri)
            case .name(.email(let address)): $0.member("san_email", address)
            case .name(.ip(let address)): $0.member("san_ip", address.description)
            case .sha256(let digest): $0.member("sha256", Self.hex(digest))
            }
        }
    }

    /// Lower-case hex, as `sha256sum` prints a certificate's thumbprint.
    static func hex(_ octets: [UInt8]) -> String {
        octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// A host name of letters, digits and hyphens (RFC 1123 §2.1), in any letter case.
    private static func dns(_ text: String) -> CertificateIdentity? {
        let name = text.utf8.count <= 253 ? text.lowercased() : ""
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        let isGood = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.utf8.first != UInt8(ascii: "-")
                && label.utf8.last != UInt8(ascii: "-")
                && label.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
        }
        // An address is no name: it stands in another kind of entry.
        guard isGood, labels.last?.utf8.allSatisfy(isDigit) == false else { return nil }
        return .name(.dns(name))
    }

    /// An absolute URI (RFC 3986 §4.3), such as a SPIFFE ID.
    private static func uri(_ text: String) -> CertificateIdentity? {
        guard isPlain(text, atMost: 2048), let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        let scheme = text.utf8[..<colon]
        guard let first = scheme.first, isLetterOrDigit(first), !isDigit(first),
            scheme.allSatisfy({ isLetterOrDigit($0) || "+-.".utf8.contains($0) }),
            text.utf8.index(after: colon) != text.utf8.endIndex
        else { return nil }
        return .name(.uri(text))
    }

    private static func email(_ text: String) -> CertificateIdentity? {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard isPlain(text, atMost: 320), parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else {
            return nil
        }
        return .name(.email(text))
    }

    private static func ip(_ text: String) -> CertificateIdentity? {
        guard let address = RemoteAddress(text), address != RemoteAddress("0.0.0.0"),
            address != RemoteAddress("::")
        else { return nil }
        return .name(.ip(address))
    }

    private static func thumbprint(_ text: String) -> CertificateIdentity? {
        let digits = Array(text.utf8)
        if digits.count == 64 {
            var octets: [UInt8] = []
            for start in stride(from: 0, to: 64, by: 2) {
                let pair = digits[start..<start + 2]
                guard pair.allSatisfy({ isLetterOrDigit($0) }),
                    let octet = UInt8(String(decoding: pair, as: UTF8.self), radix: 16)
                else { return nil }
                octets.append(octet)
            }
            return .sha256(octets)
        }
        guard digits.count == 43, let octets = Base64URL.decode(text), octets.count == 32 else {
            return nil
        }
        return .sha256(octets)
    }

    /// Printable ASCII without blanks and without what looks like a pattern.
    private static func isPlain(_ text: String, atMost length: Int) -> Bool {
        (1...length).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "*") }
    }

    private static func isDigit(_ octet: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet)
    }

    private static func isLetterOrDigit(_ octet: UInt8) -> Bool {
        isDigit(octet) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(octet | 0x20)
    }
}
