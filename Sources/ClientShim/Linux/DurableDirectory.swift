#if os(Linux)
    import Glibc
    import JOSE

    /// Small files in a directory that belongs to this user alone (R-100-08, R-100-10). Whenever the
    /// process or the machine ends, each file is there whole, old or new, and what was acknowledged stays.
    /// Everything is done relative to the open directory, so nobody can swap it for another one meanwhile.
    ///
    /// A file is written under a temporary name and then given its own. Its writer keeps it locked until
    /// then: a temporary file without a lock was left by a process that ended, and goes at the next start.
    final class DurableDirectory: Sendable {
        static let maximumFileBytes = 4 << 20
        private static let temporaryPrefix = ".tmp-"

        private let descriptor: Int32

        /// Opens the directory, making it when it is missing, and tidies up after processes that ended in it.
        init(path: String) throws(FileFault) {
            let isNew = mkdir(path, 0o700) == 0
            if !isNew, errno != EEXIST { throw .system("mkdir", errno: errno) }
            descriptor = try system("open") {
                open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            }
            var status = stat()
            try system("fstat") { fstat(descriptor, &status) }
            guard status.st_mode & 0o077 == 0, status.st_uid == geteuid() else {
                throw .openToOthers
            }
            try syncParent(isNew: isNew)
            // What is seen from here on was perhaps renamed or removed by a process that ended before it
            // could bring that to the disk.
            try sync()
            sweep()
        }

        deinit { if descriptor >= 0 { close(descriptor) } }

        /// The whole file, `nil` when there is none.
        func read(_ name: String) throws(FileFault) -> [UInt8]? {
            let file: Int32
            do {
                file = try openFile(name, O_RDONLY)
            } catch .system(_, errno: ENOENT) {
                return nil
            }
            defer { close(file) }
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 16_384)
            while true {
                let count = try system("read") {
                    Int32(Glibc.read(file, &buffer, buffer.count))
                }
                if count == 0 { return bytes }
                bytes += buffer[..<Int(count)]
                // Nothing of this size was ever written here.
                guard bytes.count <= Self.maximumFileBytes else { throw .tampered }
            }
        }

        /// Atomic and durable: the bytes are on disk before the name points at them, and the name is on
        /// disk before this returns.
        /// - Throws: `exists` when there is such a file and it may not be replaced. After any other error the
        ///   old file is there still, or after that of the last step, where it is replaced, the new one.
        func write(_ name: String, _ bytes: [UInt8], replacing: Bool) throws(FileFault) {
            guard bytes.count <= Self.maximumFileBytes else { throw .tooLarge }
            let (file, temporary) = try newFile()
            defer { close(file) }
            do {
                try fill(file, bytes)
                try system("fsync") { fsync(file) }
                try move(temporary, to: name, replacing: replacing)
            } catch {
                unlinkat(descriptor, temporary, 0)
                throw error
            }
            do { try sync() } catch {
                // Who asked takes it that there is no such file.
                if !replacing { unlinkat(descriptor, name, 0) }
                throw error
            }
        }

        /// Removes the file durably; no error when there is none.
        func remove(_ name: String) throws(FileFault) {
            do {
                try system("unlink") { unlinkat(descriptor, name, 0) }
            } catch .system(_, errno: ENOENT) {
                // Whoever removed it has perhaps ended before that was on the disk.
            }
            try sync()
        }

        /// The names of all files.
        func names() throws(FileFault) -> [String] {
            // A duplicate would share its reading position with every other listing.
            let listing = try openFile(".", O_RDONLY | O_DIRECTORY)
            guard let directory = fdopendir(listing) else {
                let number = errno
                close(listing)
                throw .system("fdopendir", errno: number)
            }
            defer { closedir(directory) }
            var names: [String] = []
            while true {
                errno = 0
                guard let entry = readdir(directory) else {
                    let number = errno
                    guard number == 0 else { throw .system("readdir", errno: number) }
                    return names
                }
                names.append(
                    withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                        pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
                            String(cString: $0)
                        }
                    })
            }
        }

        /// An exclusive lock if it is free now. It belongs to the open file, so two in one process
        /// exclude each other too, and it ends with the process.
        func tryLock(_ name: String) throws(FileFault) -> FileLock? {
            let file = try openFile(name, O_RDWR | O_CREAT)
            do { return try FileLock.take(file) } catch {
                throw .system("flock", errno: error.errno)
            }
        }

        // MARK: - Steps

        private func openFile(_ name: String, _ flags: Int32) throws(FileFault) -> Int32 {
            try system(flags & O_CREAT == 0 ? "open" : "create") {
                openat(
                    descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
            }
        }

        /// An empty file under a temporary name, locked.
        private func newFile() throws(FileFault) -> (Int32, name: String) {
            while true {
                guard let random = try? SecureRandom.bytes(12) else { throw .sealing }
                let name = Self.temporaryPrefix + Base64URL.encode(random)
                let file = try openFile(name, O_WRONLY | O_CREAT | O_EXCL)
                do {
                    try system("flock") { flock(file, LOCK_EX | LOCK_NB) }
                    var status = stat()
                    try system("fstat") { fstat(file, &status) }
                    if status.st_nlink == 1 { return (file, name) }
                } catch .system(_, errno: EWOULDBLOCK) {
                    // A process that starts took it for a leaving and removes it.
                } catch {
                    close(file)
                    unlinkat(descriptor, name, 0)
                    throw error
                }
                close(file)
            }
        }

        private func fill(_ file: Int32, _ bytes: [UInt8]) throws(FileFault) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = try system("write") {
                    Int32(rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) })
                }
                guard count > 0 else { throw .system("write", errno: EIO) }
                rest = rest.dropFirst(Int(count))
            }
        }

        private func move(_ from: String, to target: String, replacing: Bool) throws(FileFault) {
            if replacing {
                try system("rename") { renameat(descriptor, from, descriptor, target) }
                return
            }
            // A link, unlike a rename, never takes the place of a file that is there.
            do {
                try system("link") { linkat(descriptor, from, descriptor, target, 0) }
            } catch .system(_, errno: EEXIST) {
                throw .exists
            }
            unlinkat(descriptor, from, 0)
        }

        private func sync() throws(FileFault) {
            try system("fsync of the directory") { fsync(descriptor) }
        }

        /// The directory's own name, also where another process made it and ended before it was on the disk.
        private func syncParent(isNew: Bool) throws(FileFault) {
            let parent: Int32
            do {
                parent = try openFile("..", O_RDONLY | O_DIRECTORY)
            } catch .system(_, errno: EACCES) where !isNew {
                // Where this user may not look it made no directory either.
                return
            }
            defer { close(parent) }
            try system("fsync of the parent directory") { fsync(parent) }
        }

        /// Removes temporary files whose writer has ended. As far as that goes: they are neither read nor
        /// listed.
        private func sweep() {
            let left = (try? names())?.filter { $0.hasPrefix(Self.temporaryPrefix) } ?? []
            for name in left {
                guard let file = try? openFile(name, O_WRONLY) else { continue }
                if flock(file, LOCK_EX | LOCK_NB) == 0 { unlinkat(descriptor, name, 0) }
                close(file)
            }
        }
    }
#endif
