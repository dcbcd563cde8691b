internal import COpenSSL

extension ClientCertificate {
    private static let mostNames = 64
    private static let longestName = 2048

    /// What a handler sees of a certificate.
    ///
    /// `nil` when its names cannot be told for sure: an octet outside printable ASCII in one of them (a NUL once hid the
    /// rest of a name from C programs), an address of an odd length, a broken or repeated extension, or too many of them.
    /// Names of other kinds are passed over.
    /// - Parameter certificate: an `X509`, which its owner keeps.
    init?(_ certificate: OpaquePointer) {
        var digest = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 32
        guard X509_digest(certificate, EVP_sha256(), &digest, &length) == 1, length == 32,
            let names = Self.names(of: certificate)
        else {
            ERR_clear_error()
            return nil
        }
        self.init(sha256: digest, names: names)
    }

    private static func names(of certificate: OpaquePointer) -> Set<Name>? {
        var criticality: Int32 = 0
        let extensionValue = X509_get_ext_d2i(
            certificate, NID_subject_alt_name, &criticality, nil)
        // -1: there is none. Anything else without a value is broken, or there are two.
        guard let extensionValue else { return criticality == -1 ? [] : nil }
        let stack = OpaquePointer(extensionValue)
        defer { GENERAL_NAMES_free(stack) }
        let count = OPENSSL_sk_num(stack)
        guard count <= mostNames else { return nil }
        var names: Set<Name> = []
        for index in 0..<max(count, 0) {
            guard let entry = OPENSSL_sk_value(stack, index) else { return nil }
            var kind: Int32 = 0
            let value = GENERAL_NAME_get0_value(
                entry.assumingMemoryBound(to: GENERAL_NAME.self), &kind)
            guard [GEN_DNS, GEN_URI, GEN_EMAIL, GEN_IPADD].contains(kind) else { continue }
            guard let octets = octets(of: value), let name = Name(kind: kind, octets) else {
                return nil
            }
            names.insert(name)
        }
        return names
    }

    private static func octets(of value: UnsafeMutableRawPointer?) -> [UInt8]? {
        guard let string = value?.assumingMemoryBound(to: ASN1_STRING.self) else { return nil }
        let length = Int(ASN1_STRING_length(string))
        guard length > 0, length <= longestName, let start = ASN1_STRING_get0_data(string) else {
            return nil
        }
        return Array(UnsafeBufferPointer(start: start, count: length))
    }
}

extension ClientCertificate.Name {
    /// - Parameter kind: `GEN_DNS`, `GEN_URI`, `GEN_EMAIL` or `GEN_IPADD`.
    fileprivate init?(kind: Int32, _ octets: [UInt8]) {
        if kind == GEN_IPADD {
            guard octets.count == 4 || octets.count == 16 else { return nil }
            self = .ip(RemoteAddress(octets: octets))
            return
        }
        guard octets.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        switch kind {
        case GEN_DNS: self = .dns(String(decoding: octets.map(\.lowercased), as: UTF8.self))
        case GEN_URI: self = .uri(String(decoding: octets, as: UTF8.self))
        case GEN_EMAIL: self = .email(String(decoding: octets, as: UTF8.self))
        default: return nil
        }
    }
}
