import ClientShim
import FoundationEssentials
import JOSE
import Synchronization

/// The phone's disk for records: shows each write, and can let a stored session look older than it is.
struct PhoneStore: SecureStore {
    let wrapped: any SecureStore
    let life: Lifeline
    let board: Board
    let ageing: Ageing

    /// Whether the stored access token's time is up; outlives the app's processes as the disk does.
    final class Ageing: Sendable {
        private let state = Mutex(false)
        var isExpired: Bool {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    private static let session = "session"

    func read(_ name: String) throws(SecureStoreError) -> [UInt8]? {
        try checkAlive()
        let bytes = try wrapped.read(name)
        guard name == Self.session, ageing.isExpired else { return bytes }
        return bytes.map(Self.expired)
    }

    func replace(_ name: String, with bytes: [UInt8]) throws(SecureStoreError) {
        try checkAlive()
        try wrapped.replace(name, with: bytes)
        if name == Self.session { ageing.isExpired = false }
        board.post(.disk("record \(Redaction.name(name)) written"))
    }

    func remove(_ name: String) throws(SecureStoreError) {
        try checkAlive()
        let isThere = try wrapped.names(prefix: name).contains(name)
        try wrapped.remove(name)
        if name == Self.session { ageing.isExpired = false }
        if isThere { board.post(.disk("record \(Redaction.name(name)) removed")) }
    }

    func names(prefix: String) throws(SecureStoreError) -> [String] {
        try checkAlive()
        return try wrapped.names(prefix: prefix)
    }

    func tryLock(_ name: String) throws(SecureStoreError) -> (any StoreLock)? {
        try checkAlive()
        guard let lock = try wrapped.tryLock(name) else { return nil }
        return life.hold(lock)
    }

    private func checkAlive() throws(SecureStoreError) {
        guard life.isAlive else { throw .failed(details: "this process has ended") }
    }

    /// The record with an expiry long past in the place of its own.
    static func expired(_ record: [UInt8]) -> [UInt8] {
        let text = String(decoding: record, as: UTF8.self)
        guard let member = text.firstRange(of: "\"expires_at\":") else { return record }
        let rest = text[member.upperBound...].drop { $0.isNumber }
        return Array((text[..<member.upperBound] + "1" + rest).utf8)
    }
}

/// The phone's keys: shows which are made and which are deleted.
struct PhoneKeyStore: KeyStore {
    let wrapped: any KeyStore
    let life: Lifeline
    let board: Board

    var isHardwareBacked: Bool { wrapped.isHardwareBacked }

    func generate(label: String) throws(KeyStoreError) -> PublicJWK {
        guard life.isAlive else { throw .failed(details: "this process has ended") }
        let jwk = try wrapped.generate(label: label)
        board.post(.disk("key \(Redaction.name(label)) made"))
        return jwk
    }

    func publicJWK(label: String) throws(KeyStoreError) -> PublicJWK? {
        try wrapped.publicJWK(label: label)
    }

    func sign(label: String, digest: [UInt8]) throws(KeyStoreError) -> [UInt8] {
        try wrapped.sign(label: label, digest: digest)
    }

    func delete(label: String) throws(KeyStoreError) {
        guard life.isAlive else { throw .failed(details: "this process has ended") }
        try wrapped.delete(label: label)
        board.post(.disk("key \(Redaction.name(label)) deleted"))
    }

    func list() throws(KeyStoreError) -> [String] { try wrapped.list() }
}
