/// A client's certificate, already verified against the configured authorities: in a handshake of this server's own, or in
/// the field of a trusted proxy.
public struct ClientCertificate: Sendable, Equatable {
    /// One subject alternative name (RFC 5280 §4.2.1.6).
    public enum Name: Sendable, Hashable {
        /// A host name, in lower case.
        case dns(String)
        /// A URI, octet by octet.
        case uri(String)
        /// A mail address, octet by octet.
        case email(String)
        /// An IP address.
        case ip(RemoteAddress)
    }

    /// SHA-256 of the certificate's DER form, 32 octets: its thumbprint (RFC 8705 §3.1).
    public let sha256: [UInt8]
    /// Its subject alternative names; the common name is none of them (RFC 9525 §2).
    public let names: Set<Name>

    /// Makes one from its parts, for the tests of a handler.
    public init(sha256: [UInt8], names: Set<Name>) {
        self.sha256 = sha256
        self.names = names
    }
}
