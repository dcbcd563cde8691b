internal import COpenSSL

/// An ES256 signature in its two spellings: DER, as OpenSSL has it, and the 64 octets of a JWS (RFC 7518 §3.4).
enum ECDSASignature {
    static let joseLength = 64

    /// `r ‖ s`, each padded to 32 octets, or `nil` when `der` is no such signature.
    static func jose(fromDER der: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var cursor = der.baseAddress
        guard let signature = d2i_ECDSA_SIG(nil, &cursor, der.count) else {
            _ = OpenSSLError.drain()
            return nil
        }
        defer { ECDSA_SIG_free(signature) }
        var octets = [UInt8](repeating: 0, count: joseLength)
        let padded = octets.withUnsafeMutableBufferPointer { buffer -> Bool in
            guard let base = buffer.baseAddress else { return false }
            return BN_bn2binpad(ECDSA_SIG_get0_r(signature), base, 32) == 32
                && BN_bn2binpad(ECDSA_SIG_get0_s(signature), base + 32, 32) == 32
        }
        return padded ? octets : nil
    }

    /// The DER form of 64 octets, or `nil` for any other length.
    static func der(fromJOSE octets: [UInt8]) -> [UInt8]? {
        guard octets.count == joseLength, let signature = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(signature) }
        let r = octets.withUnsafeBufferPointer { BN_bin2bn($0.baseAddress, 32, nil) }
        let s = octets.withUnsafeBufferPointer {
            BN_bin2bn($0.baseAddress.map { $0 + 32 }, 32, nil)
        }
        // set0 takes both numbers only when it succeeds.
        guard ECDSA_SIG_set0(signature, r, s) == 1 else {
            BN_free(r)
            BN_free(s)
            return nil
        }
        var encoded: UnsafeMutablePointer<UInt8>?
        let length = i2d_ECDSA_SIG(signature, &encoded)
        guard length > 0, let encoded else {
            _ = OpenSSLError.drain()
            return nil
        }
        defer { CRYPTO_free(encoded, nil, 0) }
        return Array(UnsafeBufferPointer(start: encoded, count: Int(length)))
    }
}
