/// The proxies whose word about a request counts, and the field they say it in.
///
/// A field of a peer that is not among them is ignored: anybody could write it.
public struct TrustedProxies: Sendable, Equatable {
    /// Where a proxy tells whom it speaks for. Exactly one counts: a proxy that writes the one may well pass the other on as it
    /// came from its client.
    public enum Field: String, Sendable, CaseIterable {
        /// `Forwarded` (RFC 7239).
        case forwarded
        /// `X-Forwarded-For`, with `X-Forwarded-Proto` beside it.
        case xForwardedFor = "x_forwarded_for"
    }

    /// The proxies' addresses.
    public var ranges: [AddressRange]
    /// Whether every peer on a Unix socket is a trusted proxy.
    public var includesUnixPeers: Bool
    /// The field that counts.
    public var field: Field
    /// How they hand on a client's certificate; `nil` when they do not, and then no field is looked at.
    public var certificates: ForwardedCertificates?

    /// Names the proxies and their field.
    public init(
        ranges: [AddressRange], includesUnixPeers: Bool = false, field: Field,
        certificates: ForwardedCertificates? = nil
    ) {
        self.ranges = ranges
        self.includesUnixPeers = includesUnixPeers
        self.field = field
        self.certificates = certificates
    }

    /// Whether the address is a trusted proxy's.
    public func contains(_ address: RemoteAddress) -> Bool {
        address == .unix ? includesUnixPeers : ranges.contains { $0.contains(address) }
    }

    /// For whom a trusted proxy speaks.
    /// - Parameter peer: the proxy's own address.
    /// - Returns: `nil` when it sent no field of this kind: then the request is its own, such as a probe.
    /// - Throws: `malformedForwarding` for whatever leaves the client in doubt; `insecureForwarding` when a hop was plain http.
    func client(
        of peer: RemoteAddress, in headers: HTTPHeaders
    ) throws(HTTPRejection) -> ForwardedClient? {
        switch field {
        case .forwarded: try ForwardedField.client(of: peer, in: headers, trusting: self)
        case .xForwardedFor: try XForwardedFor.client(of: peer, in: headers, trusting: self)
        }
    }
}

/// Whom a request came from, by a trusted proxy's word.
struct ForwardedClient: Equatable {
    let address: RemoteAddress
    /// Whether every hop that a trusted proxy told of was https.
    let isSecure: Bool

    /// The most addresses of proxies that are looked at; nobody has so many.
    static let maximumHops = 32
}
