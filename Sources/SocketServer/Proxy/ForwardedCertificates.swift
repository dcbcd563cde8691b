/// The field in which trusted proxies hand on the certificate that a client showed them, and whose certificates count.
///
/// What a proxy hands on is verified again here, as if the client had shown it in a handshake of this server's own.
public struct ForwardedCertificates: Sendable, Equatable {
    /// How a proxy writes a certificate.
    public enum Form: Sendable, Equatable {
        /// `Client-Cert`, and `Client-Cert-Chain` where the proxy sends it (RFC 9440).
        case clientCert
        /// PEM with URI escapes, as nginx's `$ssl_client_escaped_cert`, in a field of this name (lower case).
        case escapedPEM(field: String)
    }

    /// Where it stands. Exactly one form counts: a proxy that writes the one may well pass the other on as it came.
    public var form: Form
    /// PEM: the authorities whose certificates are taken (as `TLSConfiguration.clientAuthorityFile`).
    public var authorityFile: String
    /// PEM: certificate revocation lists (as `TLSConfiguration.clientRevocationFile`).
    public var revocationFile: String?

    /// Names the field and the files; they are read by `HTTPServer.init` and `HTTPServer.prepare`.
    public init(form: Form, authorityFile: String, revocationFile: String? = nil) {
        self.form = form
        self.authorityFile = authorityFile
        self.revocationFile = revocationFile
    }

    /// A certificate and what came along, as they stand in a request; `nil` when the field is not there.
    /// - Throws: `malformedForwarding` for whatever is not exactly of the form.
    func read(_ headers: HTTPHeaders) throws(HTTPRejection) -> [Certificate]? {
        switch form {
        case .clientCert: try ClientCertField.read(headers)
        case .escapedPEM(let name): try EscapedPEMField.read(headers, name)
        }
    }

    /// More than any chain that is taken has.
    static let longestChain = 10
}
