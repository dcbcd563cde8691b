import SocketServer

extension ServeConfiguration {
    /// Whether requests can bring a client certificate: in the server's own handshake, or by a trusted proxy's word.
    var takesCertificates: Bool {
        tls?.clientAuthorityFile != nil || trustedProxies?.certificates != nil
    }
}
