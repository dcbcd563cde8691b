import Glibc

/// Small files, read and written whole with plain system calls.
enum TextFile {
    static let maximumLength = 4 << 20

    /// The octets of a file of at most 4 MiB.
    static func read(_ path: String) throws(CommandError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .refused("\(path): \(reason(errno))") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .refused("\(path): \(reason(errno))") }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= maximumLength else { throw .refused("\(path): larger than 4 MiB") }
        }
    }

    /// Makes a file that only its owner can read; refuses when there is one already, so that no key is ever overwritten.
    ///
    /// It gets its name once all of it is on disk: whoever is ended on the way leaves nothing in the way of the next try.
    static func createPrivate(_ path: String, _ bytes: [UInt8]) throws(CommandError) {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(folder, O_WRONLY | O_CLOEXEC | nameless, 0o600)
        guard descriptor >= 0 else {
            // A file system that has no nameless files.
            if [EOPNOTSUPP, EISDIR, EINVAL].contains(errno) {
                return try createPrivateByName(path, in: folder, bytes)
            }
            throw .refused("\(path): \(reason(errno))")
        }
        defer { close(descriptor) }
        try write(bytes, to: descriptor, path)
        guard
            linkat(
                AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
        else { throw .refused("\(path): \(reason(errno))") }
        try keepName(in: folder, path)
    }

    /// `O_TMPFILE`, which is not imported into Swift.
    private static let nameless = O_DIRECTORY | 0o20_000_000

    /// The same where files need a name: written beside it first.
    private static func createPrivateByName(
        _ path: String, in folder: String, _ bytes: [UInt8]
    ) throws(CommandError) {
        let draft = "\(path).\(getpid()).new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .refused("\(draft): \(reason(errno))") }
        defer {
            close(descriptor)
            unlink(draft)
        }
        try write(bytes, to: descriptor, draft)
        guard link(draft, path) == 0 else { throw .refused("\(path): \(reason(errno))") }
        try keepName(in: folder, path)
    }

    /// A name is on disk when its folder is.
    private static func keepName(in folder: String, _ path: String) throws(CommandError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unavailable("\(path): \(reason(errno))") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .unavailable("\(path): \(reason(errno))") }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String)
        throws(CommandError)
    {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .unavailable("\(path): \(reason(errno))") }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0 else { throw .unavailable("\(path): \(reason(errno))") }
    }

    static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func reason(_ number: Int32) -> String { String(cString: strerror(number)) }
}
