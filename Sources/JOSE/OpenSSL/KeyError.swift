/// Why a private key was not loaded or made. No case ever carries key text.
public enum KeyError: Error, Equatable, Sendable {
    /// The URI's scheme is not one this build can open.
    case unsupportedURI
    /// The file cannot be opened or read; the system's error number.
    case unreadableFile(errno: Int32)
    /// Not a regular file, or one of more than 64 KiB.
    case notAKeyFile
    /// Users outside the file's owner and group may read it, or its group may write it.
    case permissions
    /// The file holds nothing.
    case empty
    /// No private key in it: only a public key, a certificate, or text.
    case noPrivateKey
    /// More than one private key: which one is meant would be a guess.
    case severalPrivateKeys
    /// Encrypted, and no passphrase source was given.
    case encrypted
    /// Damaged or cut; what OpenSSL said.
    case malformed(OpenSSLError)
    /// A kind of key that is not used here, by OpenSSL's name for it.
    case unsupportedType(String)
    /// An EC key on another curve, by OpenSSL's name.
    case unsupportedCurve(String)
    /// An EC key that spells its curve out instead of naming it.
    case explicitCurve
    /// RSA of fewer than 2048 or more than 8192 bits.
    case rsaLength(bits: Int)
    /// RSA with a public exponent below 65537 (FIPS 186-5 §5.1) or above 64 bits.
    case rsaExponent
    /// The key does not belong to the algorithm it was declared for.
    case wrongAlgorithm(expected: JWSAlgorithm, found: JWSAlgorithm)
    /// The key cannot make a signature that its own public half accepts.
    case unusable
    /// OpenSSL could not do the work.
    case openSSL(OpenSSLError)
}

extension KeyError: CustomStringConvertible {
    /// The reason in a sentence without key text.
    public var description: String {
        switch self {
        case .unsupportedURI: "the key's URI must be file:/absolute/path"
        case .unreadableFile(let number): "the key file cannot be read (errno \(number))"
        case .notAKeyFile: "not a regular file of at most 64 KiB"
        case .permissions:
            "the key file may be read by other users or written by its group: set mode 0600 or 0640"
        case .empty: "the key file is empty"
        case .noPrivateKey: "there is no private key in the file"
        case .severalPrivateKeys: "there is more than one private key in the file"
        case .encrypted: "the key is encrypted and no passphrase source is set"
        case .malformed(let error): "the key is damaged or cut (\(error))"
        case .unsupportedType(let name): "a key of type \(name) cannot sign ES256 or PS256"
        case .unsupportedCurve(let name): "the key is on curve \(name); ES256 needs P-256"
        case .explicitCurve: "the key spells out its curve parameters; name the curve instead"
        case .rsaLength(let bits): "an RSA key of \(bits) bits; PS256 needs 2048 to 8192"
        case .rsaExponent: "the RSA public exponent must be at least 65537 and at most 64 bits"
        case .wrongAlgorithm(let expected, let found):
            "a key for \(found) was declared for \(expected)"
        case .unusable: "a signature by the key is not accepted by its own public half"
        case .openSSL(let error): "OpenSSL refused (\(error))"
        }
    }
}
