/// The signature algorithms the product knows (FAPI 2.0 Security Profile §5.4.1); there is no `none` and no MAC.
public enum JWSAlgorithm: String, Sendable, CaseIterable {
    /// ECDSA on P-256 with SHA-256, signature as 64 octets `r ‖ s` (RFC 7518 §3.4).
    case ES256
    /// RSASSA-PSS with SHA-256, MGF1 with SHA-256 and 32 octets of salt (RFC 7518 §3.5).
    case PS256
}
