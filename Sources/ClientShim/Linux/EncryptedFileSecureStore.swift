#if os(Linux)
    /// Records as sealed files in a directory of mode 0700.
    public struct EncryptedFileSecureStore: SecureStore {
        private let directory: SealedDirectory

        /// - Parameter directory: made when missing; refused when group or others can use it.
        public init(directory: String, masterKey: MasterKey) throws(SecureStoreError) {
            do {
                self.directory = try SealedDirectory(
                    path: directory, key: masterKey, purpose: "record")
            } catch {
                throw SecureStoreError(error, name: "")
            }
        }

        /// The record, `nil` when there is none.
        public func read(_ name: String) throws(SecureStoreError) -> [UInt8]? {
            do { return try directory.read(name) } catch { throw .init(error, name: name) }
        }

        /// Writes the record whole, atomically and durably.
        public func replace(_ name: String, with bytes: [UInt8]) throws(SecureStoreError) {
            do {
                try directory.write(name, bytes, replacing: true)
            } catch {
                throw .init(error, name: name)
            }
        }

        /// Removes the record durably.
        public func remove(_ name: String) throws(SecureStoreError) {
            do { try directory.remove(name) } catch { throw .init(error, name: name) }
        }

        /// The names that begin with `prefix`, sorted.
        public func names(prefix: String) throws(SecureStoreError) -> [String] {
            do {
                return try directory.names().filter { $0.hasPrefix(prefix) }
            } catch {
                throw .init(error, name: prefix)
            }
        }

        /// A lock file in the directory, if it is free now.
        public func tryLock(_ name: String) throws(SecureStoreError) -> (any StoreLock)? {
            do { return try directory.tryLock(name) } catch { throw .init(error, name: name) }
        }
    }

    extension SecureStoreError {
        init(_ fault: FileFault, name: String) {
            self =
                switch fault {
                case .tampered: .tampered(name: name)
                case .badName: .badName
                default: .failed(details: fault.details)
                }
        }
    }
#endif
