internal import COpenSSL
internal import Glibc

extension PrivateKey {
    /// Loads the key a URI names, at present `file:/absolute/path` (SEC1, PKCS #8 or PKCS #1, PEM or DER).
    ///
    /// The file must not be readable by users outside its owner and group. Never asks on a terminal.
    public static func load(uri: String) throws(KeyError) -> PrivateKey {
        guard let path = filePath(of: uri) else { throw .unsupportedURI }
        var bytes = try KeyFile.read(path)
        defer { wipe(&bytes) }
        return try PrivateKey(encoded: bytes)
    }

    /// Reads one private key from PEM text in any usual spelling, or from DER.
    public convenience init(encoded bytes: [UInt8]) throws(KeyError) {
        guard bytes.contains(where: { !$0.isBlank }) else { throw .empty }
        let pkey =
            PEMText.looksLikePEM(bytes) ? try Self.decodePEM(bytes) : try Self.decodeDER(bytes)
        try self.init(adopting: pkey)
    }

    /// The absolute path of a `file:` URI (RFC 8089), without percent-decoding, or `nil`.
    static func filePath(of uri: String) -> String? {
        guard uri.hasPrefix("file:") else { return nil }
        var path = uri.dropFirst("file:".count)
        if path.hasPrefix("///") { path = path.dropFirst(2) }
        guard path.hasPrefix("/"), !path.hasPrefix("//"), !path.utf8.contains(0) else { return nil }
        return String(path)
    }

    private static func decodePEM(_ bytes: [UInt8]) throws(KeyError) -> OpaquePointer {
        let pem = PEMText(bytes)
        let keys = pem.blocks.filter { $0.label.hasSuffix("PRIVATE KEY") }
        guard keys.count <= 1 else { throw .severalPrivateKeys }
        guard let block = keys.first else {
            throw pem.isCut ? .malformed(OpenSSLError(reasons: ["no END line"])) : .noPrivateKey
        }
        guard !pem.isCut else {
            throw .malformed(OpenSSLError(reasons: ["a block without its END line"]))
        }
        guard block.label != "ENCRYPTED PRIVATE KEY",
            block.text.firstRange(of: Array("Proc-Type: 4,ENCRYPTED".utf8)) == nil
        else { throw .encrypted }
        return try block.text.withUnsafeBufferPointer { (text) throws(KeyError) in
            // The BIO keeps this pointer, so all of its life is within the closure.
            guard let bio = BIO_new_mem_buf(text.baseAddress, Int32(text.count)) else {
                throw .openSSL(OpenSSLError.drain())
            }
            defer { BIO_free(bio) }
            // Without a callback OpenSSL would ask for a passphrase on the terminal.
            guard let pkey = PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil) else {
                throw .malformed(OpenSSLError.drain())
            }
            return pkey
        }
    }

    private static func decodeDER(_ bytes: [UInt8]) throws(KeyError) -> OpaquePointer {
        let decoded = bytes.withUnsafeBufferPointer { buffer -> (key: OpaquePointer?, rest: Int) in
            var cursor = buffer.baseAddress
            let key = d2i_AutoPrivateKey(nil, &cursor, buffer.count)
            let used = cursor.map { $0 - (buffer.baseAddress ?? $0) } ?? 0
            return (key, buffer.count - used)
        }
        guard let key = decoded.key else {
            let error = OpenSSLError.drain()
            throw isPublicDER(bytes) ? .noPrivateKey : .malformed(error)
        }
        guard decoded.rest == 0 else {
            EVP_PKEY_free(key)
            throw .severalPrivateKeys
        }
        return key
    }

    private static func isPublicDER(_ bytes: [UInt8]) -> Bool {
        let isPublic = bytes.withUnsafeBufferPointer { buffer -> Bool in
            var cursor = buffer.baseAddress
            if let key = d2i_PUBKEY(nil, &cursor, buffer.count) {
                EVP_PKEY_free(key)
                return true
            }
            cursor = buffer.baseAddress
            guard let certificate = d2i_X509(nil, &cursor, buffer.count) else { return false }
            X509_free(certificate)
            return true
        }
        _ = OpenSSLError.drain()
        return isPublic
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == 0x20 || (self >= 0x09 && self <= 0x0d) }
}

/// Reads a key file after checking on the open descriptor, not on the path, who else can read it.
enum KeyFile {
    static let maximumLength = 64 * 1024

    static func read(_ path: String) throws(KeyError) -> [UInt8] {
        // Not blocking: opening a FIFO that nobody writes to must not hang the start.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadableFile(errno: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadableFile(errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= maximumLength else {
            throw .notAKeyFile
        }
        guard status.st_mode & 0o027 == 0 else { throw .permissions }
        var bytes = [UInt8](repeating: 0, count: maximumLength + 1)
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(
                    descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                let number = errno
                wipe(&bytes)
                throw .unreadableFile(errno: number)
            }
            if count == 0 { break }
            filled += count
        }
        defer { wipe(&bytes) }
        guard filled <= maximumLength else { throw .notAKeyFile }
        return Array(bytes[..<filled])
    }
}
