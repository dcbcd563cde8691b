/// Why a private key was not loaded or made. No case ever carries key text.
public enum KeyError: Error, Equatable, Sendable {
    /// The URI's scheme is not one this build can open.
    case unsupportedURI
    /// The URI carries a PIN, where it may only say where the PIN is.
    case secretInURI
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
    /// The passphrase does not open the key.
    case wrongPassphrase
    /// The source of the passphrase or PIN gives none; what is wrong with it.
    case passphraseSource(String)
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
    /// The key stays in its device.
    case notExportable
    /// The TPM or its provider cannot be reached; what OpenSSL said.
    case tpmUnavailable(OpenSSLError)
    /// The PKCS #11 module cannot be used; why.
    case module(String)
    /// No token is there that the URI describes.
    case noSuchToken
    /// More than one token is as the URI describes: which one is meant would be a guess.
    case severalTokens
    /// The token wants a PIN, and the URI names no source of it.
    case pinMissing
    /// The token or TPM refused this PIN or authorization, which is not tried again, or it lets nobody try any more.
    case pinRefused
    /// The token's key has no public half beside it.
    case noPublicHalf
    /// A PKCS #11 call failed: its name and the number it gave (`CKR_…`).
    case token(call: String, code: UInt)
    /// The key's device did not answer in time.
    case notAnswering
    /// As many signatures wait for the key's device as may.
    case busy
    /// OpenSSL could not do the work.
    case openSSL(OpenSSLError)
}

extension KeyError: CustomStringConvertible {
    /// The reason in a sentence without key text.
    public var description: String {
        switch self {
        case .unsupportedURI:
            "the key's URI must be file:/absolute/path, pkcs11:… or handle:0x…; where a passphrase is needed, with ?passphrase-source= (pkcs11: ?pin-source=) file:/path, fd:N or credential:NAME"
        case .secretInURI:
            "the URI carries a PIN, and URIs stand in the database: use pin-source instead of pin-value"
        case .unreadableFile(let number): "the key file cannot be read (errno \(number))"
        case .notAKeyFile: "not a regular file of at most 64 KiB"
        case .permissions:
            "the key file may be read by other users or written by its group: set mode 0600 or 0640"
        case .empty: "the key file is empty"
        case .noPrivateKey: "there is no private key in the file"
        case .severalPrivateKeys: "there is more than one private key in the file"
        case .encrypted:
            "the key is encrypted and no passphrase source is set: add ?passphrase-source= to its URI"
        case .wrongPassphrase: "the passphrase does not open the key"
        case .passphraseSource(let reason): "the passphrase or PIN cannot be read: \(reason)"
        case .malformed(let error): "the key is damaged or cut (\(error))"
        case .unsupportedType(let name): "a key of type \(name) cannot sign ES256 or PS256"
        case .unsupportedCurve(let name): "the key is on curve \(name); ES256 needs P-256"
        case .explicitCurve: "the key spells out its curve parameters; name the curve instead"
        case .rsaLength(let bits): "an RSA key of \(bits) bits; PS256 needs 2048 to 8192"
        case .rsaExponent: "the RSA public exponent must be at least 65537 and at most 64 bits"
        case .wrongAlgorithm(let expected, let found):
            "a key for \(found) was declared for \(expected)"
        case .unusable: "a signature by the key is not accepted by its own public half"
        case .notExportable: "the key stays in its device"
        case .tpmUnavailable(let error):
            "the TPM cannot be used (\(error)); is tpm2-openssl installed, and TPM2OPENSSL_TCTI right?"
        case .module(let reason): "the PKCS #11 module cannot be used: \(reason)"
        case .noSuchToken: "no token is as the URI describes"
        case .severalTokens: "more than one token is as the URI describes; name its serial too"
        case .pinMissing: "the token wants a PIN: add ?pin-source= to the key's URI"
        case .pinRefused:
            "the token or TPM refused the PIN or authorization, or is locked; it is not tried again, since devices lock themselves after a few tries"
        case .noPublicHalf: "the token has no public key with the same id beside the private one"
        case .token(let call, let code):
            "the token answered \(call) with CKR 0x\(String(code, radix: 16))"
        case .notAnswering: "the key's device did not answer in time"
        case .busy: "too many signatures wait for the key's device"
        case .openSSL(let error): "OpenSSL refused (\(error))"
        }
    }
}
