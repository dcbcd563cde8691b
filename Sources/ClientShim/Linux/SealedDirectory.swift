#if os(Linux)
    import JOSE

    /// Sealed files by name in a durable directory (R-100-08, R-100-09).
    final class SealedDirectory: Sendable {
        static let maximumNameBytes = 150
        private static let suffix = ".sealed"

        private let files: DurableDirectory
        private let key: MasterKey
        private let purpose: String

        /// Opens the directory, making it when it is missing.
        /// - Parameter purpose: keeps keys and records apart even under one master key.
        init(path: String, key: MasterKey, purpose: String) throws(FileFault) {
            files = try DurableDirectory(path: path)
            self.key = key
            self.purpose = purpose
        }

        /// The opened bytes, `nil` when there is no file of that name.
        func read(_ name: String) throws(FileFault) -> [UInt8]? {
            guard let sealed = try files.read(try fileName(name)) else { return nil }
            do {
                return try AESGCM.open(
                    sealed, key: key.bytes.expose(), associatedData: associatedData(name))
            } catch .notAuthentic {
                throw .tampered
            } catch {
                throw .sealing
            }
        }

        /// Seals the bytes and writes them atomically and durably.
        func write(_ name: String, _ bytes: [UInt8], replacing: Bool) throws(FileFault) {
            let target = try fileName(name)
            let sealed: [UInt8]
            do {
                sealed = try AESGCM.seal(
                    bytes, key: key.bytes.expose(), associatedData: associatedData(name))
            } catch {
                throw .sealing
            }
            try files.write(target, sealed, replacing: replacing)
        }

        /// Removes the file durably; no error when there is none.
        func remove(_ name: String) throws(FileFault) { try files.remove(try fileName(name)) }

        /// The names of all sealed files, sorted.
        func names() throws(FileFault) -> [String] {
            let names = try files.names().compactMap { file -> String? in
                guard file.hasSuffix(Self.suffix),
                    let bytes = Base64URL.decode(String(file.dropLast(Self.suffix.count)))
                else { return nil }
                return String(validating: bytes, as: UTF8.self)
            }
            return names.sorted()
        }

        /// An exclusive lock of that name if it is free now.
        func tryLock(_ name: String) throws(FileFault) -> FileLock? {
            try files.tryLock(FileLock.fileName(name))
        }

        /// R-100-09: a file renamed to another name, or moved between stores, does not open.
        private func associatedData(_ name: String) -> [UInt8] {
            Array("authn:\(purpose):\(name)".utf8)
        }

        private func fileName(_ name: String) throws(FileFault) -> String {
            guard !name.isEmpty, name.utf8.count <= Self.maximumNameBytes else { throw .badName }
            return Base64URL.encode(Array(name.utf8)) + Self.suffix
        }
    }
#endif
