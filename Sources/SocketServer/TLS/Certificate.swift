internal import COpenSSL
internal import Glibc

/// An X.509 certificate.
///
/// Sendable: nothing changes it after `init`, and OpenSSL caches its extensions under a lock of its own.
final class Certificate: @unchecked Sendable {
    let pointer: OpaquePointer

    /// - Parameter pointer: an `X509`, taken over.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// - Parameter der: exactly one certificate; `nil` for anything else.
    init?(der: [UInt8]) {
        let read: OpaquePointer? = der.withUnsafeBufferPointer { octets in
            var position = octets.baseAddress
            guard let pointer = d2i_X509(nil, &position, octets.count) else { return nil }
            guard position == octets.baseAddress.map({ $0 + octets.count }) else {
                X509_free(pointer)
                return nil
            }
            return pointer
        }
        guard let read else {
            ERR_clear_error()
            return nil
        }
        pointer = read
    }

    deinit { X509_free(pointer) }

    /// What tells one chain from any other.
    static func sha256(of chain: [Certificate]) -> [UInt8] {
        var digests: [UInt8] = []
        for certificate in chain {
            var digest = [UInt8](repeating: 0, count: 32)
            var length: UInt32 = 32
            X509_digest(certificate.pointer, EVP_sha256(), &digest, &length)
            digests += digest
        }
        return digests
    }

    /// Its last second, in seconds since 1970 UTC; `nil` when it names no time.
    var notAfter: Int64? { CertificateTime.seconds(X509_get0_notAfter(pointer)) }

    /// Whether it may sign others: by its basic constraints, or as a self-signed one of an age that had none.
    var isAuthority: Bool { X509_check_ca(pointer) > 0 }

    var hasStrongKey: Bool { KeyStrength.isEnough(X509_get0_pubkey(pointer)) }
}

/// A certificate revocation list (RFC 5280 §5).
///
/// Sendable: nothing changes it after `init`.
final class RevocationList: @unchecked Sendable {
    let pointer: OpaquePointer

    /// - Parameter pointer: an `X509_CRL`, taken over.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { X509_CRL_free(pointer) }

    /// When the next one is due, in seconds since 1970 UTC; `nil` when it does not say.
    var nextUpdate: Int64? { CertificateTime.seconds(X509_CRL_get0_nextUpdate(pointer)) }
}

/// A private key. Sendable: it is only handed to OpenSSL, which counts its owners under a lock.
final class PrivateKey: @unchecked Sendable {
    let pointer: OpaquePointer

    /// - Parameter pointer: an `EVP_PKEY`, taken over.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(pointer) }
}

/// The times of ASN.1.
enum CertificateTime {
    static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        var parts = tm()
        guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else {
            ERR_clear_error()
            return nil
        }
        return Int64(timegm(&parts))
    }
}
