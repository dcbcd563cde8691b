/// Where a private key lies, taken apart from its URI.
enum KeyURI: Hashable, Sendable {
    /// `file:/absolute/path`, also `file:///absolute/path` (RFC 8089), with `?passphrase-source=SOURCE` where it is encrypted.
    case file(path: String, passphrase: PassphraseSource?)
    /// `pkcs11:…` (RFC 7512): a key in a token.
    case pkcs11(PKCS11URI)
    /// `handle:0x81000001`: a persistent key of a TPM, with `?passphrase-source=SOURCE` where it has an authorization.
    case tpm(handle: String, passphrase: PassphraseSource?)

    /// - Throws: `KeyError`: `unsupportedURI`, or `secretInURI` for a URI that carries what it should only point to.
    init(_ text: String) throws(KeyError) {
        guard !text.utf8.contains(0), let colon = text.firstIndex(of: ":") else {
            throw .unsupportedURI
        }
        let rest = text[text.index(after: colon)...]
        switch text[..<colon] {
        case "file":
            let (path, passphrase) = try Self.split(rest)
            guard let path = Self.absolutePath(path) else { throw .unsupportedURI }
            self = .file(path: path, passphrase: passphrase)
        case "pkcs11": self = .pkcs11(try PKCS11URI(rest))
        case "handle":
            let (handle, passphrase) = try Self.split(rest)
            guard handle.hasPrefix("0x"), (3...10).contains(handle.utf8.count),
                handle.dropFirst(2).allSatisfy({ $0.isASCII && $0.isHexDigit })
            else { throw .unsupportedURI }
            self = .tpm(handle: String(handle), passphrase: passphrase)
        default: throw .unsupportedURI
        }
    }

    /// What stands before the question mark, and the one thing that may stand behind it.
    private static func split(
        _ text: Substring
    ) throws(KeyError) -> (Substring, PassphraseSource?) {
        guard let mark = text.firstIndex(of: "?") else { return (text, nil) }
        let query = text[text.index(after: mark)...]
        let name = "passphrase-source="
        guard query.hasPrefix(name), let source = PassphraseSource(query.dropFirst(name.count))
        else { throw .unsupportedURI }
        return (text[..<mark], source)
    }

    /// The path of a `file:` URI that has nothing but a path; `nil` for anything else.
    static func filePath(_ uri: String) -> String? {
        let scheme = "file:"
        guard uri.hasPrefix(scheme), !uri.utf8.contains(0), !uri.utf8.contains(UInt8(ascii: "?"))
        else { return nil }
        return absolutePath(uri.dropFirst(scheme.count))
    }

    /// Without percent-decoding. `//host/path` is another machine's.
    private static func absolutePath(_ text: Substring) -> String? {
        let path = text.hasPrefix("///") ? text.dropFirst(2) : text
        return path.hasPrefix("/") && !path.hasPrefix("//") ? String(path) : nil
    }
}
