import JOSE
import Synchronization

/// Where the session lives: one record in the secure store, shared with other processes, and a copy in
/// memory for questions that may not wait for a disk.
final class SessionVault: Sendable {
    static let recordName = "session"
    static let lockName = "session"

    private let environment: AuthnEnvironment
    private let installKeys: InstallKeys
    private let memory = Mutex(Memory())

    private struct Memory {
        var record: SessionRecord?
        /// A refreshed session the disk would not take. The old refresh token is spent, so this must
        /// be written before anything else happens to the session.
        var unsaved: SessionRecord?
    }

    init(environment: AuthnEnvironment, installKeys: InstallKeys) {
        self.environment = environment
        self.installKeys = installKeys
    }

    /// Reads the session into memory when the process starts.
    func preload() throws(AuthnFault) {
        let record = try read()
        memory.withLock { $0.record = record }
    }

    /// The session as last seen, without touching the disk. `nil` when there is none or it is over.
    var lastSeen: SessionRecord? {
        let now = environment.clock.now()
        return memory.withLock { $0.record }.flatMap { $0.isOver(at: now) ? nil : $0 }
    }

    /// The session on disk, with whatever was unsaved written first. A session of another key than this
    /// install's has ended (R-100-15), and so has one that cannot be opened.
    func load() async throws(AuthnFault) -> SessionRecord? {
        try await locked { () throws(AuthnFault) in try self.loadLocked() }
    }

    /// Stores a new sign-in's session; gives the one it replaces (R-000-35).
    func replace(with record: SessionRecord) async throws(AuthnFault) -> SessionRecord? {
        try await locked { () throws(AuthnFault) in
            let old = try? self.read()
            try self.write(record)
            return old
        }
    }

    /// Stores a refreshed session, unless the session it belongs to is gone or was replaced.
    /// - Returns: whether it was stored.
    /// - Throws: when the disk would not take it; it is kept in memory and written at the next `load`.
    func update(_ record: SessionRecord) async throws(AuthnFault) -> Bool {
        try await locked { () throws(AuthnFault) in
            guard try self.read()?.grantId == record.grantId else { return false }
            // Before the write: should it fail, the record is still known.
            self.memory.withLock { $0.unsaved = record }
            try self.write(record)
            return true
        }
    }

    /// Removes the session; gives what there was.
    func remove() async throws(AuthnFault) -> SessionRecord? {
        try await locked { () throws(AuthnFault) in
            let unsaved = self.memory.withLock { memory in
                defer { memory = Memory() }
                return memory.unsaved
            }
            let old = try? self.read()
            try self.erase()
            return unsaved ?? old
        }
    }

    // MARK: - Under the lock

    private func loadLocked() throws(AuthnFault) -> SessionRecord? {
        if let unsaved = memory.withLock({ $0.unsaved }) {
            if try read()?.grantId == unsaved.grantId { try write(unsaved) }
            memory.withLock { $0.unsaved = nil }
        }
        guard let record = try read() else {
            memory.withLock { $0.record = nil }
            return nil
        }
        guard let key = try installKeys.current(), key.dpopJkt == record.dpopJkt else {
            try erase()
            return nil
        }
        memory.withLock { $0.record = record }
        return record
    }

    private func read() throws(AuthnFault) -> SessionRecord? {
        do {
            return try environment.store.read(Self.recordName).flatMap(SessionRecord.init(bytes:))
        } catch .tampered {
            return nil
        } catch {
            throw .secureStore(error)
        }
    }

    private func write(_ record: SessionRecord) throws(AuthnFault) {
        try storeFault { () throws(SecureStoreError) in
            try environment.store.replace(Self.recordName, with: record.json.bytes)
        }
        memory.withLock { memory in
            memory.record = record
            memory.unsaved = nil
        }
    }

    private func erase() throws(AuthnFault) {
        memory.withLock { $0 = Memory() }
        try storeFault { () throws(SecureStoreError) in
            try environment.store.remove(Self.recordName)
        }
    }

    private func locked<Value>(
        _ body: () throws(AuthnFault) -> Value
    ) async throws(AuthnFault) -> Value {
        let lock = try await StoreLocking.acquire(
            Self.lockName, in: environment.store, clock: environment.clock, limitMilliseconds: 5_000
        )
        defer { lock.release() }
        return try body()
    }
}
