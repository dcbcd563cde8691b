import JOSE
import Synchronization

/// Where the session lives: one record in the secure store, shared with other processes, and a copy in
/// memory for questions that may not wait for a disk.
final class SessionVault: Sendable {
    static let recordName = "session"
    static let lockName = "session"

    private let environment: AuthnEnvironment
    private let installKeys: InstallKeys
    private let executor: any TaskExecutor
    private let memory = Mutex(Memory())

    private struct Memory {
        var record: SessionRecord?
        /// A refreshed session the disk would not take. The old refresh token is spent, so this must
        /// be written before anything else happens to the session.
        var unsaved: SessionRecord?
        /// The sign-in that was signed out while the disk would not let go of its record.
        var ended: String?
    }

    init(environment: AuthnEnvironment, installKeys: InstallKeys, executor: any TaskExecutor) {
        self.environment = environment
        self.installKeys = installKeys
        self.executor = executor
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
            guard try self.read()?.grantId == record.grantId,
                self.memory.withLock({ $0.ended }) != record.grantId
            else { return false }
            // Before the write: should it fail, the record is still known.
            self.memory.withLock { $0.unsaved = record }
            try self.write(record)
            return true
        }
    }

    /// Removes the session; gives what there was. Should the disk not let go of it, or another process not
    /// let go of the lock, it is over for this process all the same, and is removed when it is next looked at.
    /// - Throws: when the lock stays taken and this process knows of no session to end.
    func remove() async throws(AuthnFault) -> SessionRecord? {
        do {
            return try await locked { () throws(AuthnFault) in
                let stored = try? self.read()
                guard let old = self.memory.withLock({ $0.unsaved ?? stored ?? $0.record }) else {
                    return nil
                }
                do { try self.erase() } catch { self.noteEnded(old) }
                return old
            }
        } catch {
            guard let known = memory.withLock({ $0.unsaved ?? $0.record }) else { throw error }
            noteEnded(known)
            return known
        }
    }

    private func noteEnded(_ record: SessionRecord) {
        memory.withLock { $0 = Memory(ended: record.grantId) }
    }

    /// Removes that session, which the provider has ended, unless another sign-in has taken its place.
    /// - Returns: the session of the other sign-in.
    func end(_ record: SessionRecord) async throws(AuthnFault) -> SessionRecord? {
        try await locked { () throws(AuthnFault) in
            guard let stored = try self.read() else {
                // Another process has signed out.
                self.memory.withLock { $0.record = nil }
                return nil
            }
            guard stored.grantId == record.grantId else { return stored }
            try self.erase()
            return nil
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
        let isEnded = memory.withLock { $0.ended == record.grantId }
        guard !isEnded, let key = try installKeys.current(), key.dpopJkt == record.dpopJkt else {
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
            memory = Memory(record: record)
        }
    }

    /// Forgets the session first, the disk after it; who was signed out stays so when that fails.
    private func erase() throws(AuthnFault) {
        memory.withLock { $0 = Memory(ended: $0.ended) }
        try storeFault { () throws(SecureStoreError) in
            try environment.store.remove(Self.recordName)
        }
        memory.withLock { $0.ended = nil }
    }

    private func locked<Value>(
        _ body: () throws(AuthnFault) -> Value
    ) async throws(AuthnFault) -> Value {
        let lock = try await StoreLocking.acquire(
            Self.lockName, in: environment.store, clock: environment.clock, executor: executor,
            limitMilliseconds: 5_000)
        defer { lock.release() }
        return try body()
    }
}
