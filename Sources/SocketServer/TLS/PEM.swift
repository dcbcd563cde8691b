internal import COpenSSL

/// Reads the blocks of PEM text (RFC 7468). Blocks of other kinds, and text between blocks, are passed over.
enum PEM {
    /// A block is there but broken; or there are more than anybody needs.
    struct Fault: Error { let reason: String }

    /// Every certificate, in order.
    static func certificates(
        in octets: [UInt8], atMost limit: Int
    ) throws(Fault) -> [Certificate] {
        try blocks(in: octets, atMost: limit) { bio in
            PEM_read_bio_X509(bio, nil, noPassphrase, nil).map(Certificate.init(owning:))
        }
    }

    /// Every certificate revocation list, in order.
    static func revocationLists(
        in octets: [UInt8], atMost limit: Int
    ) throws(Fault) -> [RevocationList] {
        try blocks(in: octets, atMost: limit) { bio in
            PEM_read_bio_X509_CRL(bio, nil, noPassphrase, nil).map(RevocationList.init(owning:))
        }
    }

    /// The first private key.
    static func privateKey(in octets: [UInt8]) throws(Fault) -> PrivateKey {
        let bio = try MemoryBIO(octets)
        guard let key = PEM_read_bio_PrivateKey(bio.pointer, nil, noPassphrase, nil) else {
            throw Fault(reason: OpenSSLErrors.drain())
        }
        return PrivateKey(owning: key)
    }

    private static func blocks<Block>(
        in octets: [UInt8], atMost limit: Int, read: (OpaquePointer) -> Block?
    ) throws(Fault) -> [Block] {
        let bio = try MemoryBIO(octets)
        var blocks: [Block] = []
        while let block = read(bio.pointer) {
            blocks.append(block)
            guard blocks.count <= limit else { throw Fault(reason: "more than \(limit) of them") }
        }
        let error = ERR_peek_last_error()
        let isAtEnd =
            ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE
        let reason = OpenSSLErrors.drain()
        guard isAtEnd else { throw Fault(reason: reason) }
        return blocks
    }
}

/// Without a callback OpenSSL would ask for a passphrase on the terminal.
private func noPassphrase(
    _: UnsafeMutablePointer<CChar>?, _: Int32, _: Int32, _: UnsafeMutableRawPointer?
) -> Int32 { -1 }

/// Text in memory that OpenSSL reads from. It is wiped at the end.
private struct MemoryBIO: ~Copyable {
    let pointer: OpaquePointer

    init(_ octets: [UInt8]) throws(PEM.Fault) {
        guard let bio = BIO_new(BIO_s_mem()) else {
            throw PEM.Fault(reason: OpenSSLErrors.drain())
        }
        let length = Int32(clamping: octets.count)
        guard octets.isEmpty || BIO_write(bio, octets, length) == length else {
            BIO_free(bio)
            throw PEM.Fault(reason: OpenSSLErrors.drain())
        }
        pointer = bio
    }

    deinit { BIO_free(pointer) }
}
