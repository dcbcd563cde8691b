extension SharedSecret {
    /// The octets a secret may have. HS256 wants as many as its output has (RFC 7518 §3.2).
    public static let lengths: ClosedRange<Int> = 32...1024
    /// With fewer different characters it is no secret that anybody drew.
    private static let fewestDifferent = 8

    /// Opens the secret a URI names: `file:/absolute/path`, or `credential:NAME` for one of systemd's credentials.
    ///
    /// The file is held to what holds for key files: a regular file that no user outside its owner and group can read.
    public static func load(uri: String) throws(SharedSecretError) -> SharedSecret {
        let path = try path(uri)
        var octets: [UInt8]
        do { octets = try KeyFile.read(path) } catch { throw .file(error) }
        defer { wipe(&octets) }
        return try SharedSecret(text: octets)
    }

    /// A secret from its text: one line of printable ASCII without blanks, with or without a line end. The code is made with
    /// the octets of the text as they stand there, never decoded (OpenID Connect Core §10.1).
    ///
    /// A key is refused, in PEM, in DER or its base64, and as a JWK: a public key used as a secret is known to everybody
    /// (RFC 8725 §2.1).
    public convenience init(text: [UInt8]) throws(SharedSecretError) {
        var secret = text
        defer { wipe(&secret) }
        if secret.last == UInt8(ascii: "\n") { secret.removeLast() }
        if secret.last == UInt8(ascii: "\r") { secret.removeLast() }
        guard !PEMText.looksLikePEM(secret), !Self.isJSON(secret), !Self.isEncodedDER(secret) else {
            throw .isKey
        }
        guard secret.allSatisfy({ (0x21...0x7e).contains($0) }) else { throw .form }
        guard Self.lengths.contains(secret.count) else { throw .length(secret.count) }
        let different = (UInt8(0x21)...0x7e).count { secret.contains($0) }
        guard different >= Self.fewestDifferent else { throw .guessable }
        self.init(copying: secret)
    }

    /// Whether a secret could lie there; nothing is looked at.
    public static func isURI(_ uri: String) -> Bool {
        KeyURI.filePath(uri) != nil || credentialName(uri) != nil
    }

    private static func path(_ uri: String) throws(SharedSecretError) -> String {
        if let path = KeyURI.filePath(uri) { return path }
        guard let name = credentialName(uri) else { throw .unsupportedURI }
        do { return try PassphraseSource.credentialPath(name) } catch { throw .file(error) }
    }

    private static func credentialName(_ uri: String) -> String? {
        guard !uri.utf8.contains(0), case .credential(let name)? = PassphraseSource(uri) else {
            return nil
        }
        return name
    }

    /// Whether it begins as a JSON object or array does: a JWK or a set of them, even one with a fault in it.
    private static func isJSON(_ text: [UInt8]) -> Bool {
        let first = text.first { $0 != 0x20 && !(0x09...0x0d).contains($0) }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    /// Whether it is base64 or base64url of one DER SEQUENCE and nothing behind it, as every key and certificate is. Of
    /// random secrets, one in tens of thousands looks like that.
    private static func isEncodedDER(_ text: [UInt8]) -> Bool {
        guard var octets = KeyBase64.decode(text, lines: [text.indices], spelling: .any) else {
            return false
        }
        defer { wipe(&octets) }
        guard octets.count >= 2, octets[0] == 0x30 else { return false }
        guard octets[1] >= 0x80 else { return octets.count == 2 + Int(octets[1]) }
        // Up to four octets of length (X.690 §8.1.3.5).
        let count = Int(octets[1] & 0x7f)
        guard (1...4).contains(count), octets.count > 2 + count else { return false }
        let length = octets[2..<2 + count].reduce(0) { $0 << 8 | Int($1) }
        return octets.count == 2 + count + length
    }
}

/// Why a shared secret was not loaded. No case ever carries any of its text.
public enum SharedSecretError: Error, Equatable, Sendable {
    /// Neither `file:/absolute/path` nor `credential:NAME`.
    case unsupportedURI
    /// The file cannot be read, or others can read it.
    case file(KeyError)
    /// It holds a key, in PEM, in base64 or as a JWK.
    case isKey
    /// Not one line of printable ASCII without blanks.
    case form
    /// Outside `SharedSecret.lengths`; the octets it has.
    case length(Int)
    /// It repeats a few characters.
    case guessable
}

extension SharedSecretError: CustomStringConvertible {
    /// The reason in a sentence without any of the text.
    public var description: String {
        switch self {
        case .unsupportedURI:
            "a secret's URI must be file:/absolute/path or credential:NAME; keys of devices are no secrets"
        case .file(.passphraseSource(let reason)): reason
        case .file(let error): "\(error)"
        case .isKey: "it holds a key; a secret is what the other party gave out as one, and no key"
        case .form: "a secret must be one line of printable ASCII without blanks"
        case .length(let count):
            "a secret must have \(SharedSecret.lengths.lowerBound) to \(SharedSecret.lengths.upperBound) octets; it has \(count)"
        case .guessable: "the secret repeats a few characters, as a placeholder does"
        }
    }
}
