import SocketServer

extension ServeConfiguration {
    /// Whether requests can bring a client certificate.
    var takesCertificates: Bool {
        tls?.clientAuthorityFile != nil || trustedProxies?.certificates != nil
    }
}
