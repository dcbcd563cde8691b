internal import COpenSSL
internal import Synchronization

/// A key of a TPM, through the provider `tpm2` (Debian's tpm2-openssl). Which TPM, the environment's `TPM2OPENSSL_TCTI`
/// says; the machine's own unless it is set.
///
/// A TPM does one thing at a time, and so does this: the lock is held while it signs.
final class TPMKey: DeviceKey {
    enum Place: Sendable {
        /// A persistent handle, such as `0x81000001`.
        case handle(String)
        /// `TSS2 PRIVATE KEY` as PEM: wrapped by the TPM, so it is no secret.
        case wrapped([UInt8])
    }

    let publicJWK: PublicJWK
    let device = "tpm"
    private let place: Place
    private let passphrase: PassphraseSource?
    private let state: Mutex<State>

    private struct State {
        var opened: OpenedTPMKey?
        /// The authorization was not accepted. Trying it again brings the TPM nearer to locking itself.
        var isRefused = false
    }

    init(_ place: Place, _ passphrase: PassphraseSource?) throws(KeyError) {
        self.place = place
        self.passphrase = passphrase
        let key = try OpenedTPMKey(place, passphrase)
        publicJWK = key.publicJWK
        state = Mutex(State(opened: key))
    }

    func sign(digest: [UInt8]) throws(KeyError) -> [UInt8] {
        try state.withLock { state throws(KeyError) in
            guard !state.isRefused else { throw .pinRefused }
            do throws(KeyError) {
                return try sign(digest, &state)
            } catch {
                if error == .pinRefused { state.isRefused = true }
                throw error
            }
        }
    }

    private func sign(_ digest: [UInt8], _ state: inout State) throws(KeyError) -> [UInt8] {
        if let key = state.opened {
            do {
                return try key.sign(digest: digest)
            } catch .pinRefused {
                throw .pinRefused
            } catch {}
        }
        // Its connection may be broken: the next is a new one, whatever becomes of it.
        state.opened = nil
        let key = try OpenedTPMKey(place, passphrase)
        guard key.publicJWK.material == publicJWK.material else { throw .unusable }
        let signature = try key.sign(digest: digest)
        state.opened = key
        return signature
    }
}

/// One connection to a TPM with the key loaded. It has an OpenSSL library context of its own, so that no other
/// cryptography of the process ever goes to the TPM.
///
/// Sendable: nothing changes it after `init`; its owner lets one thread at a time sign.
private final class OpenedTPMKey: @unchecked Sendable {
    let publicJWK: PublicJWK
    private let library: OpaquePointer
    private let providers: [OpaquePointer]
    private let pkey: OpaquePointer

    /// For keys and for signatures: otherwise OpenSSL would take its own, with the public half alone.
    private static let properties = "?provider=tpm2"

    init(_ place: TPMKey.Place, _ passphrase: PassphraseSource?) throws(KeyError) {
        guard let library = OSSL_LIB_CTX_new() else { throw .openSSL(OpenSSLError.drain()) }
        var providers: [OpaquePointer] = []
        do throws(KeyError) {
            for name in ["default", "tpm2"] {
                guard let provider = OSSL_PROVIDER_load(library, name) else {
                    throw .tpmUnavailable(OpenSSLError.drain())
                }
                providers.append(provider)
            }
            var phrase = try passphrase?.read()
            defer { if var octets = phrase.take() { wipe(&octets) } }
            let pkey: OpaquePointer
            switch place {
            case .handle(let handle):
                pkey = try KeyStore.privateKey(
                    at: "handle:\(handle)", passphrase: phrase, library: library,
                    properties: Self.properties)
            case .wrapped(let text):
                pkey = try KeyStore.privateKey(
                    in: text, passphrase: phrase, library: library, properties: Self.properties)
            }
            do throws(KeyError) {
                publicJWK = try KeyInspection.publicHalf(of: pkey)
            } catch {
                EVP_PKEY_free(pkey)
                throw error
            }
            self.pkey = pkey
        } catch {
            Self.free(library, providers)
            throw error
        }
        self.library = library
        self.providers = providers
    }

    deinit {
        EVP_PKEY_free(pkey)
        Self.free(library, providers)
    }

    private static func free(_ library: OpaquePointer, _ providers: [OpaquePointer]) {
        for provider in providers.reversed() { OSSL_PROVIDER_unload(provider) }
        OSSL_LIB_CTX_free(library)
    }

    /// Takes the errors of this thread. The provider tells apart what the TPM answered in the text beside them only.
    private static func failure() -> KeyError {
        var reasons: [String] = []
        while true {
            var data: UnsafePointer<CChar>?
            var flags: Int32 = 0
            let code = ERR_get_error_all(nil, nil, nil, &data, &flags)
            guard code != 0 else { break }
            let reason = ERR_reason_error_string(code).map { String(cString: $0) } ?? "unknown"
            let detail = flags & ERR_TXT_STRING != 0 ? data.map { String(cString: $0) } ?? "" : ""
            reasons.append(detail.isEmpty ? reason : reason + " (" + detail + ")")
        }
        let isRefused = reasons.contains {
            $0.contains("authorization") || $0.contains("lockout") || $0.contains("auth fail")
        }
        return isRefused ? .pinRefused : .openSSL(OpenSSLError(reasons: reasons))
    }

    func sign(digest: [UInt8]) throws(KeyError) -> [UInt8] {
        guard digest.count == SHA256.length else { throw .unusable }
        guard let context = EVP_PKEY_CTX_new_from_pkey(library, pkey, Self.properties) else {
            throw .openSSL(OpenSSLError.drain())
        }
        defer { EVP_PKEY_CTX_free(context) }
        let isRSA = publicJWK.algorithm == .PS256
        var signature = [UInt8](repeating: 0, count: 1100)
        var length = signature.count
        // A TPM chooses the salt's length itself; a key whose TPM takes another than 32 is found at load.
        guard EVP_PKEY_sign_init(context) == 1,
            !isRSA || EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1,
            EVP_PKEY_CTX_set_signature_md(context, Algorithms.sha256) == 1,
            EVP_PKEY_sign(context, &signature, &length, digest, digest.count) == 1
        else { throw Self.failure() }
        guard !isRSA else { return Array(signature[..<length]) }
        let octets = signature.withUnsafeBufferPointer {
            ECDSASignature.jose(fromDER: UnsafeBufferPointer(rebasing: $0[..<length]))
        }
        guard let octets else {
            throw .openSSL(OpenSSLError(reasons: ["a signature that is not DER"]))
        }
        return octets
    }
}
