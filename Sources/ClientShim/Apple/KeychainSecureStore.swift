#if canImport(Security)
    import Darwin
    import Foundation

    /// Records in the Keychain, on this device only. Type-checked, never run on a device.
    public struct KeychainSecureStore: SecureStore {
        private let keychain: Keychain
        private let lockDirectory: String

        /// - Parameters:
        ///   - accessGroup: shared by an app and its extensions; `nil` is the app's own.
        ///   - lockDirectory: an existing directory for the lock files of `tryLock`, the same for all processes that share the group. They
        ///     hold nothing.
        public init(
            service: String = "authn.records", accessGroup: String? = nil, lockDirectory: String
        ) {
            keychain = Keychain(service: service, accessGroup: accessGroup)
            self.lockDirectory = lockDirectory
        }

        /// The record, `nil` when there is none.
        public func read(_ name: String) throws(SecureStoreError) -> [UInt8]? {
            do { return try keychain.read(name).map { Array($0) } } catch { throw .init(error) }
        }

        /// Writes the record whole: updates it, or adds it.
        public func replace(_ name: String, with bytes: [UInt8]) throws(SecureStoreError) {
            guard !name.isEmpty else { throw .badName }
            do { try keychain.replace(name, with: Data(bytes)) } catch { throw .init(error) }
        }

        /// Removes the record.
        public func remove(_ name: String) throws(SecureStoreError) {
            guard !name.isEmpty else { throw .badName }
            do { try keychain.remove(name) } catch { throw .init(error) }
        }

        /// The names that begin with `prefix`, sorted.
        public func names(prefix: String) throws(SecureStoreError) -> [String] {
            do {
                return try keychain.accounts().filter { $0.hasPrefix(prefix) }
            } catch {
                throw .init(error)
            }
        }

        /// A lock on a file of `lockDirectory`, if it is free now.
        public func tryLock(_ name: String) throws(SecureStoreError) -> (any StoreLock)? {
            let file = open(
                lockDirectory + "/" + FileLock.fileName(name),
                O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw .failed(details: "open, errno \(errno)") }
            do { return try FileLock.take(file) } catch {
                throw .failed(details: "flock, errno \(error.errno)")
            }
        }
    }

    extension SecureStoreError {
        fileprivate init(_ fault: Keychain.Fault) {
            self = .failed(details: fault.details)
        }
    }
#endif
