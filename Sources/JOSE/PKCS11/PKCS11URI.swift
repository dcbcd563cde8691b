/// A key in a token, as RFC 7512 names it.
struct PKCS11URI: Hashable, Sendable {
    /// What the token must say of itself; any when `nil`.
    var token: String?
    var manufacturer: String?
    var serial: String?
    var model: String?
    var slot: UInt?
    /// The key's `CKA_LABEL` and `CKA_ID`.
    var object: [UInt8]?
    var id: [UInt8]?
    var modulePath: String?
    var pin: PassphraseSource?

    /// - Parameter text: what follows `pkcs11:`.
    init(_ text: Substring) throws(KeyError) {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var seen: Set<Substring> = []
        for attribute in parts[0].split(separator: ";", omittingEmptySubsequences: true) {
            let (name, value) = try Self.pair(attribute, &seen)
            try setPath(name, value)
        }
        guard parts.count == 2 else { return }
        for attribute in parts[1].split(separator: "&", omittingEmptySubsequences: true) {
            let (name, value) = try Self.pair(attribute, &seen)
            try setQuery(name, value)
        }
    }

    /// An attribute that is not known here matches nothing (RFC 7512 §2.3), so it is refused.
    private mutating func setPath(_ name: Substring, _ value: [UInt8]) throws(KeyError) {
        switch name {
        case "token": token = try Self.text(value)
        case "manufacturer": manufacturer = try Self.text(value)
        case "serial": serial = try Self.text(value)
        case "model": model = try Self.text(value)
        case "slot-id":
            guard let number = UInt(try Self.text(value)) else { throw .unsupportedURI }
            slot = number
        case "object": object = value
        case "id": id = value
        case "type":
            guard value == Array("private".utf8) else { throw .unsupportedURI }
        default: throw .unsupportedURI
        }
    }

    private mutating func setQuery(_ name: Substring, _ value: [UInt8]) throws(KeyError) {
        switch name {
        case "module-path": modulePath = try Self.text(value)
        case "pin-source":
            let text = try Self.text(value)
            // RFC 7512 §2.4 lets it be a URI or, in practice, a mere path.
            guard let source = PassphraseSource(text.hasPrefix("/") ? "file:" + text : text) else {
                throw .unsupportedURI
            }
            pin = source
        case "pin-value": throw .secretInURI
        default: throw .unsupportedURI
        }
    }

    private static func pair(
        _ attribute: Substring, _ seen: inout Set<Substring>
    ) throws(KeyError) -> (Substring, [UInt8]) {
        guard let equals = attribute.firstIndex(of: "=") else { throw .unsupportedURI }
        let name = attribute[..<equals]
        guard seen.insert(name).inserted,
            let value = decode(attribute[attribute.index(after: equals)...]), !value.isEmpty
        else { throw .unsupportedURI }
        return (name, value)
    }

    /// Percent-decoding (RFC 3986 §2.1); `nil` when it is malformed.
    private static func decode(_ text: Substring) -> [UInt8]? {
        var octets: [UInt8] = []
        var rest = text.utf8[...]
        while let octet = rest.popFirst() {
            guard octet == UInt8(ascii: "%") else {
                octets.append(octet)
                continue
            }
            guard let high = rest.popFirst()?.hexValue, let low = rest.popFirst()?.hexValue else {
                return nil
            }
            octets.append(UInt8(high << 4 | low))
        }
        return octets
    }

    private static func text(_ value: [UInt8]) throws(KeyError) -> String {
        guard let text = String(validating: value, as: UTF8.self), !value.contains(0) else {
            throw .unsupportedURI
        }
        return text
    }
}
