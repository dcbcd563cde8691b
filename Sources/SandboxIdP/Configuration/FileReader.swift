import Glibc

/// Reads small files whole.
enum FileReader {
    /// The most octets that are read.
    static let maximumLength = 1 << 20

    static func isReadable(_ path: String) -> Bool { access(path, R_OK) == 0 }

    /// The file's octets, or the system's reason why not.
    static func read(_ path: String) throws(FileError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(errno: errno) }
        defer { close(descriptor) }
        var octets: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while octets.count <= maximumLength {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileError(errno: errno) }
            if count == 0 { return octets }
            octets.append(contentsOf: chunk[..<count])
        }
        throw FileError(errno: EFBIG)
    }
}

/// A system call's failure.
struct FileError: Error, Equatable, Sendable, CustomStringConvertible {
    let errno: Int32

    var description: String { String(cString: strerror(errno)) }
}
