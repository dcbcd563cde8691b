internal import CEpoll
internal import Glibc

/// The file of a Unix socket that this server made.
struct UnixSocketFile {
    private let path: UnixSocketPath
    private let device: dev_t
    private let inode: ino_t

    /// How long another server that starts in the same directory is waited for, in steps of 10 ms.
    private static let patience = 200

    /// Makes the file and listens on it.
    ///
    /// The directory is locked meanwhile: of two servers that find the same dead file, the second must not remove what the
    /// first just made.
    init(
        at path: UnixSocketPath, mode: FileMode, listening descriptor: Int32, backlog: Int32
    ) throws(ServerError) {
        func refused(_ reason: String) -> ServerError {
            .cannotListenOnFile(path: path.description, reason: reason)
        }
        let lock = open(path.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw refused(errorText(errno)) }
        defer { close(lock) }
        guard Self.lock(lock) else { throw refused("another process keeps its directory locked") }

        if let fault = Self.removeDead(path) { throw refused(fault) }
        let address = SocketAddress(path)
        guard address.withPointer({ bind(descriptor, $0, $1) }) == 0 else {
            throw refused(errorText(errno))
        }
        var status = stat()
        // Not before it has its mode can anybody connect.
        guard chmod(path.description, mode.bits) == 0, lstat(path.description, &status) == 0,
            listen(descriptor, backlog) == 0
        else {
            let reason = errorText(errno)
            unlink(path.description)
            throw refused(reason)
        }
        (self.path, device, inode) = (path, status.st_dev, status.st_ino)
    }

    /// Removes the file, unless another one stands at its path by now.
    func remove() {
        var status = stat()
        guard lstat(path.description, &status) == 0, status.st_dev == device,
            status.st_ino == inode
        else { return }
        unlink(path.description)
    }

    private static func lock(_ directory: Int32) -> Bool {
        for _ in 0..<patience {
            if flock(directory, LOCK_EX | LOCK_NB) == 0 { return true }
            usleep(10_000)
        }
        return false
    }

    /// Removes a socket file that nobody listens on.
    /// - Returns: why the path cannot be had, `nil` when it is free.
    private static func removeDead(_ path: UnixSocketPath) -> String? {
        var status = stat()
        guard lstat(path.description, &status) == 0 else {
            return errno == ENOENT ? nil : errorText(errno)
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            return "a file that is no socket is there; remove it or choose another path"
        }
        let probe = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0
        )
        guard probe >= 0 else { return errorText(errno) }
        defer { close(probe) }
        let address = SocketAddress(path)
        guard address.withPointer({ connect(probe, $0, $1) }) != 0, errno != EAGAIN else {
            return "another process listens on it"
        }
        // Only this says that nobody listens; a socket of another type, or one we may not try, may well be in use.
        guard errno == ECONNREFUSED else {
            return "what is there cannot be tried: \(errorText(errno))"
        }
        return unlink(path.description) == 0 ? nil : errorText(errno)
    }
}
