internal import COpenSSL

/// Whose client certificates are good, and which of them were revoked.
///
/// Sendable: nothing changes the store after `init`, and OpenSSL reads it under a lock of its own.
final class ClientAuthorities: @unchecked Sendable {
    /// An `X509_STORE`.
    let store: OpaquePointer
    let certificates: [Certificate]
    /// When the first revocation list is out of date, in seconds since 1970 UTC; `nil` without lists.
    let revocationNotAfter: Int64?

    private static let mostAuthorities = 200
    private static let mostLists = 200
    /// Certificates between a client's and its authority.
    private static let mostIntermediates: Int32 = 4

    /// Reads the files of a configuration; `nil` when it names no authorities.
    static func read(_ configuration: TLSConfiguration) throws(ServerError) -> ClientAuthorities? {
        let revocation = configuration.clientRevocationFile
        guard let path = configuration.clientAuthorityFile else {
            guard let revocation else { return nil }
            throw .unusableTLSFile(
                path: revocation,
                reason: "revocation lists are of no use without client authorities")
        }
        let authorities = try TLSFile(path)
        return try ClientAuthorities(
            authorities, try revocation.map { path throws(ServerError) in try TLSFile(path) })
    }

    /// Reads the files of a forwarded field's configuration.
    static func read(_ forwarded: ForwardedCertificates) throws(ServerError) -> ClientAuthorities {
        try ClientAuthorities(
            try TLSFile(forwarded.authorityFile),
            try forwarded.revocationFile.map { path throws(ServerError) in try TLSFile(path) })
    }

    private init(_ authorities: TLSFile, _ revocation: TLSFile?) throws(ServerError) {
        let certificates = try Self.readCertificates(authorities)
        self.certificates = certificates
        let lists = try revocation.map { file throws(ServerError) in
            try Self.readLists(file, of: certificates)
        }
        revocationNotAfter = lists?.compactMap(\.nextUpdate).min()
        guard let store = X509_STORE_new() else { throw .tlsSetup(reason: OpenSSLErrors.drain()) }
        self.store = store
        for certificate in certificates {
            guard X509_STORE_add_cert(store, certificate.pointer) == 1 else {
                throw authorities.unusable(OpenSSLErrors.drain())
            }
        }
        for list in lists ?? [] {
            guard X509_STORE_add_crl(store, list.pointer) == 1 else {
                throw .tlsSetup(reason: OpenSSLErrors.drain())
            }
        }
        // Each authority in the file is trusted for itself: naming only an issuing one is to trust no more than that.
        var flags = UInt(X509_V_FLAG_PARTIAL_CHAIN)
        if lists != nil { flags |= UInt(X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL) }
        X509_STORE_set_flags(store, flags)
        X509_STORE_set_depth(store, Self.mostIntermediates)
    }

    deinit { X509_STORE_free(store) }

    private static func readCertificates(_ file: TLSFile) throws(ServerError) -> [Certificate] {
        let certificates: [Certificate]
        do {
            certificates = try PEM.certificates(in: file.octets, atMost: mostAuthorities)
        } catch {
            throw file.unusable(error.reason)
        }
        guard !certificates.isEmpty else { throw file.unusable("holds no certificate") }
        for (index, certificate) in certificates.enumerated() {
            guard certificate.isAuthority else {
                throw file.unusable("certificate \(index + 1) is not a certificate authority's")
            }
            guard certificate.hasStrongKey else {
                throw file.unusable(
                    "the key of certificate \(index + 1) is too weak: RSA needs 2048 bits, EC 256")
            }
        }
        return certificates
    }

    /// A list of an authority in the file must bear that authority's signature; one of an authority further down is judged
    /// when its certificate is seen.
    private static func readLists(
        _ file: TLSFile, of authorities: [Certificate]
    ) throws(ServerError) -> [RevocationList] {
        let lists: [RevocationList]
        do {
            lists = try PEM.revocationLists(in: file.octets, atMost: mostLists)
        } catch {
            throw file.unusable(error.reason)
        }
        guard !lists.isEmpty else { throw file.unusable("holds no certificate revocation list") }
        for (index, list) in lists.enumerated() {
            guard list.nextUpdate != nil else {
                throw file.unusable("list \(index + 1) does not say when the next one is due")
            }
            let issuers = authorities.filter {
                X509_NAME_cmp(
                    X509_get_subject_name($0.pointer), X509_CRL_get_issuer(list.pointer)) == 0
            }
            let isSigned = issuers.contains {
                X509_CRL_verify(list.pointer, X509_get0_pubkey($0.pointer)) == 1
            }
            ERR_clear_error()
            guard issuers.isEmpty || isSigned else {
                throw file.unusable("list \(index + 1) does not bear its authority's signature")
            }
        }
        return lists
    }
}
