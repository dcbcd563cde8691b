/// Authorities and revocation lists for the certificates that trusted proxies hand on, read and found good: `HTTPServer.use`
/// cannot fail.
public struct PreparedForwarding: Sendable {
    let authorities: ClientAuthorities

    /// When the first of the revocation lists is out of date, in seconds since 1970 UTC; `nil` without lists.
    public var revocationNotAfter: Int64? { authorities.revocationNotAfter }
}

/// A TLS configuration whose files were read and found good, ready to be used: `HTTPServer.use` cannot fail.
public struct PreparedTLS: Sendable {
    let context: TLSContext

    /// The server certificate's last second, in seconds since 1970 UTC. A certificate that has expired, or is about to, is
    /// worth a warning and no fault: clients refuse it by themselves, and the one in use may be no better.
    public var notAfter: Int64 { context.notAfter }

    /// When the first of the revocation lists is out of date, in seconds since 1970 UTC; from then on no client's
    /// certificate that needs it is taken. `nil` without lists.
    public var revocationNotAfter: Int64? { context.authorities?.revocationNotAfter }

    /// Whether clients are asked for a certificate.
    public var asksForClientCertificates: Bool { context.authorities != nil }
}
