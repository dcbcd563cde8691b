/// What happens at the door and belongs in a log. Repetitions are left out for some seconds.
public enum ServerEvent: Sendable, Equatable {
    /// No more connections are accepted for now: descriptors or memory are short.
    case acceptPaused(reason: String)
    /// No more connections are accepted until one ends: `maximumConnections` are open.
    case connectionsExhausted
    /// A connection was closed at once: its address has `maximumConnectionsPerAddress` already.
    case addressRefused(RemoteAddress)
    /// A connection was closed at once: plain HTTP is for trusted proxies, and its address is none of theirs.
    case peerNotTrusted(RemoteAddress)
    /// A client's certificate was not good, so its handshake failed, or what a trusted proxy forwarded was refused. The reason
    /// is OpenSSL's, and holds nothing of the certificate.
    case clientCertificateRefused(RemoteAddress, reason: String)
}
