internal import COpenSSL

/// Looks at a loaded key and gives its public half, or the reason why it may not be used.
enum KeyInspection {
    static func publicJWK(of pkey: OpaquePointer) throws(KeyError) -> PublicJWK {
        switch EVP_PKEY_get_base_id(pkey) {
        case EVP_PKEY_EC:
            try checkScalar(of: pkey)
            return try ecJWK(of: pkey)
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS: return try rsaJWK(of: pkey)
        default: throw .unsupportedType(typeName(of: pkey))
        }
    }

    /// The public half of a key whose private half is elsewhere: all it need be able to do is write its public half down.
    static func publicHalf(of pkey: OpaquePointer) throws(KeyError) -> PublicJWK {
        var encoded: UnsafeMutablePointer<UInt8>?
        let length = i2d_PUBKEY(pkey, &encoded)
        guard length > 0, let encoded else { throw .malformed(OpenSSLError.drain()) }
        defer { copenssl_OPENSSL_free(encoded) }
        var cursor: UnsafePointer<UInt8>? = UnsafePointer(encoded)
        guard let plain = d2i_PUBKEY(nil, &cursor, Int(length)) else {
            throw .malformed(OpenSSLError.drain())
        }
        defer { EVP_PKEY_free(plain) }
        switch EVP_PKEY_get_base_id(plain) {
        case EVP_PKEY_EC: return try ecJWK(of: plain)
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS: return try rsaJWK(of: plain)
        default: throw .unsupportedType(typeName(of: plain))
        }
    }

    private static func ecJWK(of pkey: OpaquePointer) throws(KeyError) -> PublicJWK {
        var explicit: Int32 = 0
        if EVP_PKEY_get_int_param(pkey, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &explicit)
            == 1,
            explicit != 0
        {
            throw .explicitCurve
        }
        _ = OpenSSLError.drain()
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard EVP_PKEY_get_group_name(pkey, &name, name.count, &length) == 1 else {
            _ = OpenSSLError.drain()
            throw .explicitCurve
        }
        let curve = String(
            decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard curve == P256.name || curve == "P-256" else { throw .unsupportedCurve(curve) }
        let x = try number(OSSL_PKEY_PARAM_EC_PUB_X, of: pkey, paddedTo: 32)
        let y = try number(OSSL_PKEY_PARAM_EC_PUB_Y, of: pkey, paddedTo: 32)
        do { return try PublicJWK(.p256(x: x, y: y)) } catch { throw .unusable }
    }

    /// OpenSSL loads a scalar of zero, or one not below the group's order, and reckons with it.
    private static func checkScalar(of pkey: OpaquePointer) throws(KeyError) {
        let context = EVP_PKEY_CTX_new_from_pkey(nil, pkey, nil)
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_private_check(context) == 1 else {
            throw .malformed(OpenSSLError.drain())
        }
    }

    private static func rsaJWK(of pkey: OpaquePointer) throws(KeyError) -> PublicJWK {
        try rsaJWK(
            modulus: try number(OSSL_PKEY_PARAM_RSA_N, of: pkey, paddedTo: nil),
            exponent: try number(OSSL_PKEY_PARAM_RSA_E, of: pkey, paddedTo: nil))
    }

    /// - Parameters: big-endian, without leading zeros.
    static func rsaJWK(modulus: [UInt8], exponent: [UInt8]) throws(KeyError) -> PublicJWK {
        let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
        guard bits >= 2048, bits <= 8192 else { throw .rsaLength(bits: bits) }
        guard exponent.count <= 8, exponent.reduce(UInt64(0), { $0 << 8 | UInt64($1) }) >= 65537
        else {
            throw .rsaExponent
        }
        do { return try PublicJWK(.rsa(modulus: modulus, exponent: exponent)) } catch {
            throw .unusable
        }
    }

    /// A number of the key, big-endian: minimal, or left-padded with zeros to a fixed length.
    private static func number(
        _ name: String, of pkey: OpaquePointer, paddedTo length: Int?
    ) throws(KeyError) -> [UInt8] {
        var value: OpaquePointer?
        defer { BN_free(value) }
        guard EVP_PKEY_get_bn_param(pkey, name, &value) == 1 else {
            throw .malformed(OpenSSLError.drain())
        }
        let minimum = Int(BN_num_bits(value) + 7) / 8
        var octets = [UInt8](repeating: 0, count: length ?? minimum)
        guard BN_bn2binpad(value, &octets, Int32(octets.count)) == Int32(octets.count) else {
            throw .malformed(OpenSSLError.drain())
        }
        return octets
    }

    private static func typeName(of pkey: OpaquePointer) -> String {
        EVP_PKEY_get0_type_name(pkey).map { String(cString: $0) } ?? "unknown"
    }
}
