/// The hosts a server answers for. A request for any other is misdirected: 421 (RFC 9110 §7.4), since acting on it would let a
/// page that has its own name resolved to this server (DNS rebinding) or a confused proxy speak to it.
public struct ServedHosts: Sendable, Equatable {
    /// Every host.
    public static let any = ServedHosts(canonicalNames: nil, includesAddresses: true)

    private let names: Set<String>?
    private let includesAddresses: Bool

    private init(canonicalNames: Set<String>?, includesAddresses: Bool) {
        names = canonicalNames
        self.includesAddresses = includesAddresses
    }

    /// - Parameters:
    ///   - names: hosts without port, in any letter case, IPv6 in brackets.
    ///   - includesAddresses: whether every IP address is a host of this server: nobody's name resolves to one, so that serves
    ///     probes and harms nobody.
    /// - Returns: `nil` when a name is no host.
    public init?(names: some Sequence<String>, includesAddresses: Bool) {
        var canonical: Set<String> = []
        for name in names {
            guard Self.isHost(name) else { return nil }
            canonical.insert(Self.canonical(name.lowercased()))
        }
        self.init(canonicalNames: canonical, includesAddresses: includesAddresses)
    }

    /// Whether the text is a host as a `Host` field has it, without port.
    public static func isHost(_ text: String) -> Bool {
        guard text.hasPrefix("[") ? text.hasSuffix("]") : !text.utf8.contains(UInt8(ascii: ":"))
        else { return false }
        return Array(text.utf8).withUnsafeBufferPointer { HostField.isValid($0[...]) }
    }

    /// - Parameter authority: a valid `host[:port]`; empty for HTTP/1.0 without `Host`, which asks for nobody else.
    func contains(authority: String) -> Bool {
        guard let names, !authority.isEmpty else { return true }
        let host = HostField.host(of: authority)
        return names.contains(Self.canonical(host))
            || includesAddresses && Self.address(host) != nil
    }

    /// One spelling for each address: `[::1]` and `[0::1]` are the same host.
    private static func canonical(_ host: String) -> String {
        address(host)?.description ?? host
    }

    private static func address(_ host: String) -> RemoteAddress? {
        RemoteAddress(host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host)
    }
}
