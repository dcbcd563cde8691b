#if os(Linux)
    import Glibc
    import JOSE

    /// The host's key under which keys and records are sealed: 32 bytes (R-100-08).
    public struct MasterKey: Sendable {
        let bytes: Secret<[UInt8]>

        /// Where the host keeps it: 32 raw bytes, or 43 characters of base64url.
        public enum Source: Sendable {
            /// A regular file that only its owner can read.
            case file(String)
            /// An open descriptor, read to its end and left open.
            case descriptor(Int32)
            /// An environment variable, in base64url.
            case environment(String)
        }

        /// A key the host has in memory; exactly 32 bytes.
        public init(bytes: [UInt8]) throws(MasterKeyError) {
            guard bytes.count == 32 else { throw .notAKey }
            self.bytes = Secret(bytes)
        }

        /// Reads the key.
        public init(from source: Source) throws(MasterKeyError) {
            switch source {
            case .file(let path):
                let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
                guard descriptor >= 0 else { throw .unreadable(errno: errno) }
                defer { close(descriptor) }
                var status = stat()
                guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                    throw .notAKey
                }
                guard status.st_mode & 0o077 == 0 else { throw .readableByOthers }
                try self.init(read: descriptor)
            case .descriptor(let descriptor):
                try self.init(read: descriptor)
            case .environment(let name):
                guard let text = getenv(name) else { throw .notAKey }
                try self.init(text: Array(String(cString: text).utf8))
            }
        }

        private init(read descriptor: Int32) throws(MasterKeyError) {
            // One byte more than the longest form with a line end, to notice what is too long.
            var buffer = [UInt8](repeating: 0, count: 46)
            var count = 0
            while count < buffer.count {
                let got = buffer.withUnsafeMutableBytes { bytes in
                    read(descriptor, bytes.baseAddress.map { $0 + count }, bytes.count - count)
                }
                if got < 0, errno == EINTR { continue }
                guard got >= 0 else { throw .unreadable(errno: errno) }
                if got == 0 { break }
                count += got
            }
            defer { wipe(&buffer) }
            try self.init(text: Array(buffer[..<count]))
        }

        private init(text: [UInt8]) throws(MasterKeyError) {
            if text.count == 32 {
                try self.init(bytes: text)
                return
            }
            let line = text.last == UInt8(ascii: "\n") ? text.dropLast() : text[...]
            guard let bytes = Base64URL.decode(line) else { throw .notAKey }
            try self.init(bytes: bytes)
        }
    }

    /// Why there is no master key.
    public enum MasterKeyError: Error, Equatable {
        /// Not 32 bytes in one of the two forms.
        case notAKey
        /// The file can be read by group or others.
        case readableByOthers
        /// The system would not read it.
        case unreadable(errno: Int32)
    }
#endif
