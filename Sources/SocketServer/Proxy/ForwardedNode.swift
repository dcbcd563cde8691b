/// The address in a `for` parameter of RFC 7239 §6, or in an element of `X-Forwarded-For`.
enum ForwardedNode {
    /// The address of `192.0.2.1`, `192.0.2.1:port`, `[2001:db8::1]` or `[2001:db8::1]:port`, where a port is up to five digits
    /// below 65536 or, as RFC 7239 has it, obfuscated (`_` and then token-like characters).
    ///
    /// - Returns: `nil` for anything else, `unknown` and obfuscated names included: they name no client.
    static func address(_ text: some StringProtocol) -> RemoteAddress? {
        let octets = Array(text.utf8)
        let host: ArraySlice<UInt8>
        var rest: ArraySlice<UInt8>
        if octets.first == UInt8(ascii: "[") {
            guard let close = octets.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            (host, rest) = (octets[1..<close], octets[(close + 1)...])
            guard host.contains(UInt8(ascii: ":")) else { return nil }
        } else {
            let colon = octets.firstIndex(of: UInt8(ascii: ":")) ?? octets.endIndex
            (host, rest) = (octets[..<colon], octets[colon...])
        }
        if let colon = rest.popFirst() {
            guard colon == UInt8(ascii: ":"), isPort(rest) else { return nil }
        }
        return RemoteAddress(String(decoding: host, as: UTF8.self))
    }

    private static func isPort(_ octets: ArraySlice<UInt8>) -> Bool {
        if octets.first == UInt8(ascii: "_") {
            return octets.count > 1
                && octets.allSatisfy {
                    $0.isAlphanumeric || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_")
                        || $0 == UInt8(ascii: "-")
                }
        }
        return (1...5).contains(octets.count) && octets.allSatisfy(\.isDigit)
            && octets.reduce(0) { $0 * 10 + Int($1 - 0x30) } < 65536
    }
}
