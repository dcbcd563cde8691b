/// A private key that stays in a device, a PKCS #11 token or a TPM: whoever signs may have to wait for it, and it can be
/// away and come back.
protocol DeviceKey: Sendable {
    var publicJWK: PublicJWK { get }
    /// Names the device, not the key: keys of one name are in one device.
    var device: String { get }

    /// The signature over input with this SHA-256: 64 octets `r ‖ s` for ES256, the modulus's length for PS256.
    ///
    /// Blocks. A device that was away is opened anew, once a call; `KeyError` when it is still away.
    func sign(digest: [UInt8]) throws(KeyError) -> [UInt8]
}
