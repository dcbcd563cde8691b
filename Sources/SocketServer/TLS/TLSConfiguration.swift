/// Where the server's TLS identity lies.
public struct TLSConfiguration: Sendable {
    /// PEM: the server's certificate first, then its issuers.
    public var certificateChainFile: String
    /// PEM: the certificate's private key, unencrypted. Refused when group or others may read it.
    public var privateKeyFile: String

    /// Names the files; they are read by `HTTPServer.init`.
    public init(certificateChainFile: String, privateKeyFile: String) {
        self.certificateChainFile = certificateChainFile
        self.privateKeyFile = privateKeyFile
    }
}
