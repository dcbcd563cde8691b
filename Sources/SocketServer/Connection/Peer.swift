/// What is known of a connection's other end before it asks for anything.
struct Peer: Sendable {
    /// The socket's peer.
    let address: RemoteAddress
    /// Whether this server's own TLS stands between.
    let isTLS: Bool
    /// Set when the peer is one of them: then what it says of others counts.
    var proxies: TrustedProxies?
    /// Set when they are trusted to hand on certificates.
    var forwarded: ForwardedVerifier?
    /// The certificate it showed in the handshake, when that is good.
    var clientCertificate: ClientCertificate?
}
