internal import Glibc

/// One file of a TLS configuration, read once: what is judged is what is used. Symbolic links are followed, since that is
/// how certificate tools and orchestrators swap files; it is the file at their end that is judged.
struct TLSFile {
    let path: String
    let octets: [UInt8]

    /// More than any bundle of authorities or revocation lists that a broker needs.
    private static let largest = 16 * 1024 * 1024

    /// - Parameter isSecret: refused when group or others may do anything with it.
    init(_ path: String, isSecret: Bool = false) throws(ServerError) {
        self.path = path
        // O_NONBLOCK: a named pipe without a writer would keep us for ever.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw .unusableTLSFile(path: path, reason: errorText(errno))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw .unusableTLSFile(path: path, reason: errorText(errno))
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .unusableTLSFile(path: path, reason: "not a regular file")
        }
        if isSecret, status.st_mode & 0o077 != 0 {
            throw .unusableTLSFile(
                path: path, reason: "a private key must not be accessible by group or others")
        }
        guard status.st_size <= Self.largest else {
            throw .unusableTLSFile(path: path, reason: "larger than 16 MiB")
        }
        octets = try Self.readAll(descriptor, path, expected: Int(status.st_size))
    }

    /// The fault as an error that names this file.
    func unusable(_ reason: String) -> ServerError { .unusableTLSFile(path: path, reason: reason) }

    private static func readAll(
        _ descriptor: Int32, _ path: String, expected: Int
    ) throws(ServerError) -> [UInt8] {
        var failure: Int32 = 0
        let octets = [UInt8](unsafeUninitializedCapacity: expected) { room, count in
            count = 0
            while count < expected {
                let more = read(descriptor, room.baseAddress.map { $0 + count }, expected - count)
                if more < 0, errno == EINTR { continue }
                if more < 0 { failure = errno }
                guard more > 0 else { return }
                count += more
            }
        }
        guard failure == 0 else { throw .unusableTLSFile(path: path, reason: errorText(failure)) }
        return octets
    }
}
