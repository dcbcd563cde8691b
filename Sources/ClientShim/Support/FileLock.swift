import JOSE
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A lock on an open file; closing the file gives it back, and so does the end of the process.
final class FileLock: StoreLock {
    private let file: Mutex<Int32?>

    private init(_ file: Int32) { self.file = Mutex(file) }

    deinit { release() }

    func release() {
        if let open = file.withLock({ $0.take() }) { close(open) }
    }

    /// Locks an open file if it is free now, else closes it. The lock belongs to the open file, so two in one process exclude each other too.
    ///
    /// - Parameter file: a descriptor that belongs to the lock from now on.
    static func take(_ file: Int32) throws(FileLockFault) -> FileLock? {
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            let number = errno
            if number == EINTR { continue }
            close(file)
            if number == EWOULDBLOCK { return nil }
            throw FileLockFault(errno: number)
        }
        return FileLock(file)
    }

    /// The file name of a lock.
    static func fileName(_ name: String) -> String { ".lock-" + Base64URL.encode(Array(name.utf8)) }
}

/// The system would not lock the file.
struct FileLockFault: Error, Equatable {
    let errno: Int32
}
