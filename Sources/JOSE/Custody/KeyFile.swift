internal import Glibc

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
