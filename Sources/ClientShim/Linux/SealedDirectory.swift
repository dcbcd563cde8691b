#if os(Linux)
    import Glibc
    import JOSE

    /// Sealed files in a directory that belongs to this user alone (R-100-08 to R-100-10). Everything is
    /// done relative to the open directory, so nobody can swap it for another one meanwhile.
    final class SealedDirectory: Sendable {
        enum Fault: Error, Equatable {
            case tampered
            case badName
            case exists
            /// The directory can be used by group or others, or belongs to somebody else.
            case openToOthers
            case system(String, errno: Int32)
            case sealing
        }

        static let maximumNameBytes = 150
        private static let suffix = ".sealed"

        private let descriptor: Int32
        private let key: MasterKey
        private let purpose: String

        /// Opens the directory, making it when it is missing.
        /// - Parameter purpose: keeps keys and records apart even under one master key.
        init(path: String, key: MasterKey, purpose: String) throws(Fault) {
            if mkdir(path, 0o700) != 0, errno != EEXIST { throw .system("mkdir", errno: errno) }
            descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { throw .system("open", errno: errno) }
            self.key = key
            self.purpose = purpose
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw .system("fstat", errno: errno) }
            guard status.st_mode & 0o077 == 0, status.st_uid == geteuid() else {
                throw .openToOthers
            }
        }

        deinit { if descriptor >= 0 { close(descriptor) } }

        func read(_ name: String) throws(Fault) -> [UInt8]? {
            let file = openat(
                descriptor, try fileName(name), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
            guard file >= 0 else {
                if errno == ENOENT { return nil }
                throw .system("open", errno: errno)
            }
            defer { close(file) }
            let sealed = try readAll(file)
            do {
                return try AESGCM.open(
                    sealed, key: key.bytes.expose(), associatedData: associatedData(name))
            } catch .notAuthentic {
                throw .tampered
            } catch {
                throw .sealing
            }
        }

        /// Atomic and durable: the bytes are on disk before the name points at them, and the name is on
        /// disk before this returns.
        func write(_ name: String, _ bytes: [UInt8], replacing: Bool) throws(Fault) {
            let target = try fileName(name)
            let sealed: [UInt8]
            let temporary: String
            do {
                sealed = try AESGCM.seal(
                    bytes, key: key.bytes.expose(), associatedData: associatedData(name))
                temporary = ".tmp-" + Base64URL.encode(try SecureRandom.bytes(12))
            } catch {
                throw .sealing
            }
            do {
                try writeDurably(sealed, to: temporary)
                try move(temporary, to: target, replacing: replacing)
            } catch {
                unlinkat(descriptor, temporary, 0)
                throw error
            }
            try syncDirectory()
        }

        func remove(_ name: String) throws(Fault) {
            guard unlinkat(descriptor, try fileName(name), 0) == 0 else {
                if errno == ENOENT { return }
                throw .system("unlink", errno: errno)
            }
            try syncDirectory()
        }

        /// The names of all sealed files, sorted.
        func names() throws(Fault) -> [String] {
            // A duplicate would share its reading position with every other listing.
            let listing = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard listing >= 0 else { throw .system("open", errno: errno) }
            guard let directory = fdopendir(listing) else {
                let number = errno
                close(listing)
                throw .system("fdopendir", errno: number)
            }
            defer { closedir(directory) }
            var names: [String] = []
            while let entry = readdir(directory) {
                let file = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                guard file.hasSuffix(Self.suffix),
                    let bytes = Base64URL.decode(String(file.dropLast(Self.suffix.count))),
                    let name = String(validating: bytes, as: UTF8.self)
                else { continue }
                names.append(name)
            }
            return names.sorted()
        }

        /// An exclusive lock if it is free now. It belongs to the open file, so two in one process
        /// exclude each other too, and it ends with the process.
        func tryLock(_ name: String) throws(Fault) -> FileLock? {
            let file = openat(
                descriptor, FileLock.fileName(name), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                0o600)
            guard file >= 0 else { throw .system("open", errno: errno) }
            do { return try FileLock.take(file) } catch {
                throw .system("flock", errno: error.errno)
            }
        }

        // MARK: - Steps

        /// R-100-09: a file renamed to another name, or moved between stores, does not open.
        private func associatedData(_ name: String) -> [UInt8] {
            Array("authn:\(purpose):\(name)".utf8)
        }

        private func fileName(_ name: String) throws(Fault) -> String {
            guard !name.isEmpty, name.utf8.count <= Self.maximumNameBytes else { throw .badName }
            return Base64URL.encode(Array(name.utf8)) + Self.suffix
        }

        private func writeDurably(_ bytes: [UInt8], to name: String) throws(Fault) {
            let file = openat(
                descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw .system("create", errno: errno) }
            defer { close(file) }
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes { buffer in
                    Glibc.write(file, buffer.baseAddress.map { $0 + sent }, buffer.count - sent)
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw .system("write", errno: errno) }
                sent += count
            }
            guard fsync(file) == 0 else { throw .system("fsync", errno: errno) }
        }

        private func move(_ from: String, to target: String, replacing: Bool) throws(Fault) {
            if replacing {
                guard renameat(descriptor, from, descriptor, target) == 0 else {
                    throw .system("rename", errno: errno)
                }
                return
            }
            // A link, unlike a rename, never takes the place of a file that is there.
            guard linkat(descriptor, from, descriptor, target, 0) == 0 else {
                throw errno == EEXIST ? .exists : .system("link", errno: errno)
            }
            unlinkat(descriptor, from, 0)
        }

        private func syncDirectory() throws(Fault) {
            guard fsync(descriptor) == 0 else { throw .system("fsync directory", errno: errno) }
        }

        private func readAll(_ file: Int32) throws(Fault) -> [UInt8] {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 16_384)
            while true {
                let count = Glibc.read(file, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw .system("read", errno: errno) }
                if count == 0 { return bytes }
                bytes += buffer[..<count]
                // Nothing of this size was ever written here.
                guard bytes.count <= 4 << 20 else { throw .tampered }
            }
        }
    }
#endif
