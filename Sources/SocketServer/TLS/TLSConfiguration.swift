/// Where the server's TLS identity lies, and whose certificates clients may show.
public struct TLSConfiguration: Sendable {
    /// PEM: the server's certificate first, then its issuers.
    public var certificateChainFile: String
    /// PEM: the certificate's private key, unencrypted. Refused when group or others may read it.
    public var privateKeyFile: String
    /// PEM: the authorities whose client certificates are taken, each for itself, whether it signed itself or not. With it
    /// every client is asked for a certificate: one without still gets in, one whose certificate is not good does not.
    /// `nil`: no client is asked.
    public var clientAuthorityFile: String?
    /// PEM: certificate revocation lists. With it every certificate below an authority needs a current list of its
    /// issuer, and must not be in it. Needs `clientAuthorityFile`.
    public var clientRevocationFile: String?

    /// The calendar's time, in seconds since 1970 UTC: certificates, revocation lists and tickets are judged by it.
    var now: @Sendable () -> Int64 = CalendarTime.now

    /// Names the files; they are read by `HTTPServer.init` and `HTTPServer.prepare`.
    public init(
        certificateChainFile: String, privateKeyFile: String, clientAuthorityFile: String? = nil,
        clientRevocationFile: String? = nil
    ) {
        self.certificateChainFile = certificateChainFile
        self.privateKeyFile = privateKeyFile
        self.clientAuthorityFile = clientAuthorityFile
        self.clientRevocationFile = clientRevocationFile
    }
}
