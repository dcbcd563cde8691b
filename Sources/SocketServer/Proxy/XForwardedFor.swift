/// `X-Forwarded-For`, read from the right, and `X-Forwarded-Proto`.
///
/// No document defines them. Read here: one or more lines of addresses with commas between them, each proxy adding the address
/// that connected to it at the right end; IPv6 with or without brackets, and a port where the form leaves no doubt about it.
enum XForwardedFor {
    static func client(
        of peer: RemoteAddress, in headers: HTTPHeaders, trusting proxies: TrustedProxies
    ) throws(HTTPRejection) -> ForwardedClient? {
        let isSecure = try isSecure(elements(headers.all("x-forwarded-proto")))
        let lines = headers.all("x-forwarded-for")
        guard !lines.isEmpty else {
            // A proxy that tells the scheme but not the client is not set up as we were told.
            guard isSecure == nil else { throw .malformedForwarding }
            return nil
        }
        var client = peer
        var hops = 0
        for element in elements(lines).reversed() {
            // From here on it is what the client itself may have written.
            guard proxies.contains(client) else { break }
            hops += 1
            guard hops <= ForwardedClient.maximumHops, let address = address(element) else {
                throw .malformedForwarding
            }
            client = address
        }
        return ForwardedClient(address: client, isSecure: isSecure ?? false)
    }

    private static func address(_ element: String) -> RemoteAddress? {
        // Bare IPv6 has at least two colons, and what looks like a port is then no port.
        let colons = element.utf8.count { $0 == UInt8(ascii: ":") }
        let isBareIPv6 = colons > 1 && element.utf8.first != UInt8(ascii: "[")
        return isBareIPv6 ? RemoteAddress(element) : ForwardedNode.address(element)
    }

    /// Whether all of the values say https; `nil` without a value. Whoever wrote them, one http among them is refused.
    private static func isSecure(_ values: [String]) throws(HTTPRejection) -> Bool? {
        guard values.count <= ForwardedClient.maximumHops else { throw .malformedForwarding }
        for value in values {
            switch value.lowercased() {
            case "https": break
            case "http": throw .insecureForwarding
            default: throw .malformedForwarding
            }
        }
        return values.isEmpty ? nil : true
    }

    /// What stands between the commas of all lines, blanks around it left out.
    private static func elements(_ lines: [String]) -> [String] {
        lines.flatMap { line in
            Array(line.utf8).split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
                .map { octets in
                    let start = octets.drop(while: \.isBlank)
                    let end = start.lastIndex { !$0.isBlank }
                    return String(decoding: end.map { start[...$0] } ?? [], as: UTF8.self)
                }
        }
    }
}
