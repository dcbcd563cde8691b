internal import COpenSSL

/// A public key that checks signatures of one algorithm.
///
/// Sendable: nothing changes it after `init`, and OpenSSL lets threads share a key and copy a prepared context.
public final class PublicKey: @unchecked Sendable {
    /// The only algorithm this key checks.
    public let algorithm: JWSAlgorithm
    private let pkey: OpaquePointer
    private let prepared: DigestContext
    private let modulusLength: Int

    /// - Throws: `JWKError.invalidPoint` when the point is not on P-256, `.unacceptableRSA` when OpenSSL refuses the key.
    public init(_ jwk: PublicJWK) throws(JWKError) {
        algorithm = jwk.algorithm
        switch jwk.material {
        case .p256(let x, let y):
            guard let key = Self.p256(x: x, y: y) else { throw .invalidPoint }
            pkey = key
            modulusLength = 0
        case .rsa(let modulus, let exponent):
            guard let key = Self.rsa(modulus: modulus, exponent: exponent) else {
                throw .unacceptableRSA
            }
            pkey = key
            modulusLength = modulus.count
        }
        do {
            prepared = try DigestContext.verifying(pkey, algorithm)
        } catch {
            EVP_PKEY_free(pkey)
            throw .notForSignatures
        }
    }

    deinit { EVP_PKEY_free(pkey) }

    /// Whether `signature`, in the form a JWS carries, was made over `input` by the holder of this key.
    ///
    /// ES256 takes exactly 64 octets and either of the two possible `s` (RFC 7518 §3.4 asks for no low `s`); PS256 takes
    /// exactly as many octets as the modulus has.
    public func verifies(_ signature: [UInt8], over input: [UInt8]) -> Bool {
        switch algorithm {
        case .ES256:
            guard let der = ECDSASignature.der(fromJOSE: signature) else { return false }
            return check(der, input)
        case .PS256:
            return signature.count == modulusLength && check(signature, input)
        }
    }

    private func check(_ signature: [UInt8], _ input: [UInt8]) -> Bool {
        let context: DigestContext
        do { context = try prepared.copy() } catch { return false }
        let verified =
            EVP_DigestVerify(context.pointer, signature, signature.count, input, input.count) == 1
        if !verified { _ = OpenSSLError.drain() }
        return verified
    }

    private static func p256(x: [UInt8], y: [UInt8]) -> OpaquePointer? {
        guard let template = P256.template, let key = EVP_PKEY_new() else { return nil }
        // Copying the curve from a prepared key is four times cheaper than naming it in parameters.
        let point = [0x04] + x + y
        guard EVP_PKEY_copy_parameters(key, template) == 1,
            EVP_PKEY_set1_encoded_public_key(key, point, point.count) == 1
        else {
            EVP_PKEY_free(key)
            _ = OpenSSLError.drain()
            return nil
        }
        return key
    }

    private static func rsa(modulus: [UInt8], exponent: [UInt8]) -> OpaquePointer? {
        let n = BN_bin2bn(modulus, Int32(modulus.count), nil)
        let e = BN_bin2bn(exponent, Int32(exponent.count), nil)
        let builder = OSSL_PARAM_BLD_new()
        let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil)
        defer {
            BN_free(n)
            BN_free(e)
            OSSL_PARAM_BLD_free(builder)
            EVP_PKEY_CTX_free(context)
        }
        // The parameters keep the pointers to their names, so the names must outlive them.
        let key = OSSL_PKEY_PARAM_RSA_N.withCString { nameOfN in
            OSSL_PKEY_PARAM_RSA_E.withCString { nameOfE -> OpaquePointer? in
                guard OSSL_PARAM_BLD_push_BN(builder, nameOfN, n) == 1,
                    OSSL_PARAM_BLD_push_BN(builder, nameOfE, e) == 1,
                    let parameters = OSSL_PARAM_BLD_to_param(builder)
                else { return nil }
                defer { OSSL_PARAM_free(parameters) }
                var key: OpaquePointer?
                guard EVP_PKEY_fromdata_init(context) == 1,
                    EVP_PKEY_fromdata(context, &key, copenssl_EVP_PKEY_PUBLIC_KEY(), parameters)
                        == 1
                else { return nil }
                return key
            }
        }
        if key == nil { _ = OpenSSLError.drain() }
        return key
    }
}

/// P-256 by its OpenSSL name.
enum P256 {
    static let name = "prime256v1"

    /// A key that only carries the curve. Never changed after it was made.
    nonisolated(unsafe) static let template: OpaquePointer? = {
        let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_paramgen_init(context) == 1,
            EVP_PKEY_CTX_set_group_name(context, name) == 1,
            EVP_PKEY_paramgen(context, &key) == 1
        else {
            _ = OpenSSLError.drain()
            return nil
        }
        return key
    }()
}
