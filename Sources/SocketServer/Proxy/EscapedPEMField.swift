/// A certificate as PEM with every line end, blank and sign behind `%`, as nginx's `$ssl_client_escaped_cert`; its issuers may
/// follow.
enum EscapedPEMField {
    static func read(
        _ headers: HTTPHeaders, _ name: String
    ) throws(HTTPRejection) -> [Certificate]? {
        let values = headers.all(name)
        guard let value = values.first else { return nil }
        guard values.count == 1, let text = unescape(Array(value.utf8)),
            text.starts(with: "-----BEGIN CERTIFICATE-----".utf8),
            let certificates = try? PEM.certificates(
                in: text, atMost: ForwardedCertificates.longestChain),
            !certificates.isEmpty
        else { throw .malformedForwarding }
        return certificates
    }

    /// `nil` unless each `%` is followed by two hexadecimal digits and all else is visible ASCII.
    static func unescape(_ text: [UInt8]) -> [UInt8]? {
        var octets: [UInt8] = []
        octets.reserveCapacity(text.count)
        var rest = text[...]
        while let octet = rest.popFirst() {
            guard (0x21...0x7E).contains(octet) else { return nil }
            guard octet == UInt8(ascii: "%") else {
                octets.append(octet)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit),
                let low = rest.popFirst().flatMap(digit)
            else { return nil }
            octets.append(high << 4 | low)
        }
        return octets
    }

    private static func digit(_ octet: UInt8) -> UInt8? {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): octet - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): octet - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): octet - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
