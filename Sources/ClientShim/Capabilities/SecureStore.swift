/// Small records by name, kept confidential on this device only (R-100-11). Calls may block.
public protocol SecureStore: Sendable {
    /// The record, `nil` when there is none.
    func read(_ name: String) throws(SecureStoreError) -> [UInt8]?

    /// Writes the record whole. Atomic and durable (R-100-10): after a crash a reader sees the old or
    /// the new record, and once this returns the new one stays.
    func replace(_ name: String, with bytes: [UInt8]) throws(SecureStoreError)

    /// Removes the record durably; no error when there is none.
    func remove(_ name: String) throws(SecureStoreError)

    /// The names that begin with `prefix`, sorted.
    func names(prefix: String) throws(SecureStoreError) -> [String]

    /// Takes a lock that all processes sharing the store respect, if it is free right now.
    /// - Returns: `nil` when somebody else holds it. The lock ends with `release()` or with the process.
    func tryLock(_ name: String) throws(SecureStoreError) -> (any StoreLock)?
}

/// A lock held on a `SecureStore`.
public protocol StoreLock: Sendable {
    /// Gives the lock back; further calls do nothing.
    func release()
}

/// What a secure store can fail with. Record names are the SDK's own and no secret.
public enum SecureStoreError: Error, Equatable {
    /// The record was altered, renamed, or sealed under another master key.
    case tampered(name: String)
    /// The name is empty or too long.
    case badName
    /// The disk or keychain failed; text for developers.
    case failed(details: String)
}
