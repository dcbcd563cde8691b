extension PrivateKey {
    /// Opens the key a URI names: `file:/absolute/path` (SEC1, PKCS #8, encrypted or not, or PKCS #1, PEM or DER; TSS2 PEM),
    /// `pkcs11:…` (RFC 7512) or `handle:0x81000001` (a TPM's).
    ///
    /// A file must not be readable by users outside its owner and group. Never asks on a terminal. May wait for a device as
    /// long as the device likes.
    public static func load(uri: String) throws(KeyError) -> PrivateKey {
        switch try KeyURI(uri) {
        case .file(let path, let passphrase):
            var bytes = try KeyFile.read(path)
            defer { wipe(&bytes) }
            return try PrivateKey(bytes, passphrase)
        case .pkcs11(let uri): return try PrivateKey(holding: try PKCS11Key(uri))
        case .tpm(let handle, let passphrase):
            return try PrivateKey(holding: try TPMKey(.handle(handle), passphrase))
        }
    }

    /// Reads one unencrypted private key from PEM text in any usual spelling, or from DER.
    public convenience init(encoded bytes: [UInt8]) throws(KeyError) {
        try self.init(bytes, nil)
    }

    private convenience init(_ bytes: [UInt8], _ passphrase: PassphraseSource?) throws(KeyError) {
        let decoded = try KeyText.decode(bytes) { () throws(KeyError) in try passphrase?.read() }
        switch decoded {
        case .key(let pkey): try self.init(adopting: pkey)
        case .tpm(let text): try self.init(holding: try TPMKey(.wrapped(text), passphrase))
        }
    }
}
