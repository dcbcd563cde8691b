import Foundation
import JOSE
import TestKit
import Testing

@testable import ClientShim

/// R-100-07 to R-100-10 on real files.
@Suite struct EncryptedFileTests {
    private let directory: TemporaryDirectory
    private let key: MasterKey

    init() throws {
        directory = try TemporaryDirectory()
        key = try MasterKey(bytes: [UInt8](repeating: 7, count: 32))
    }

    private var path: String { directory.file("store") }

    private func records(_ key: MasterKey? = nil) throws -> EncryptedFileSecureStore {
        try EncryptedFileSecureStore(directory: path, masterKey: key ?? self.key)
    }

    private func keys(_ key: MasterKey? = nil) throws -> EncryptedFileKeyStore {
        try EncryptedFileKeyStore(directory: path, masterKey: key ?? self.key)
    }

    private var files: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: path)
                .filter { $0.hasSuffix(".sealed") }.sorted()
        }
    }

    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    @Test func `what is written is read again by another process's store, until it is removed`()
        throws
    {
        let store = try records()
        #expect(try store.read("identity/a") == nil)
        try store.replace("identity/a", with: [1, 2, 3])
        try store.replace("identity/b", with: [])
        try store.replace("session", with: [9])
        try store.replace("session", with: [10])
        let other = try records()
        #expect(try other.read("identity/a") == [1, 2, 3])
        #expect(try other.read("identity/b") == [])
        #expect(try other.read("session") == [10])
        #expect(try other.names(prefix: "identity/") == ["identity/a", "identity/b"])
        try other.remove("identity/a")
        try other.remove("identity/a")
        #expect(try store.read("identity/a") == nil)
        #expect(try store.names(prefix: "") == ["identity/b", "session"])
    }

    @Test func `R-100-08 files are 0600 in a directory of 0700, and hold no plain text`() throws {
        let store = try records()
        let text = Array("a rather recognisable secret".utf8)
        try store.replace("session", with: text)
        #expect(try mode(path) == 0o700)
        for file in try files {
            #expect(try mode(path + "/" + file) == 0o600)
            let bytes = try directory.read("store/" + file)
            #expect(bytes.firstRange(of: Array("recognisable".utf8)) == nil)
        }
    }

    @Test(arguments: [0o750, 0o701, 0o710, 0o777, 0o740])
    func `R-100-08 a directory open to group or others is refused`(_ mode: Int) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: mode])
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        #expect(throws: SecureStoreError.self) { try records() }
        #expect(throws: KeyStoreError.self) { try keys() }
    }

    @Test func `a link in the directory's place is refused`() throws {
        try FileManager.default.createDirectory(
            atPath: directory.file("real"), withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        try FileManager.default.createSymbolicLink(
            atPath: path, withDestinationPath: directory.file("real"))
        #expect(throws: SecureStoreError.self) { try records() }
    }

    @Test func `R-100-09 a file renamed to another label does not open`() throws {
        let store = try keys()
        let jwk = try store.generate(label: "a")
        let a = try #require(try files.first)
        _ = try store.generate(label: "b")
        let b = try #require(try files.first { $0 != a })
        try FileManager.default.removeItem(atPath: path + "/" + b)
        try FileManager.default.copyItem(atPath: path + "/" + a, toPath: path + "/" + b)
        #expect(try store.publicJWK(label: "a") == jwk)
        #expect(throws: KeyStoreError.tampered(label: "b")) { try store.publicJWK(label: "b") }
        #expect(throws: KeyStoreError.tampered(label: "b")) {
            try store.sign(label: "b", digest: [UInt8](repeating: 0, count: 32))
        }
    }

    @Test func `a key file moved among the records does not open, even under one master key`()
        throws
    {
        _ = try keys().generate(label: "session")
        #expect(throws: SecureStoreError.tampered(name: "session")) {
            try records().read("session")
        }
    }

    @Test func `every altered byte, and every cut, is noticed`() throws {
        let store = try records()
        try store.replace("session", with: [1, 2, 3])
        let file = path + "/" + (try #require(try files.first))
        let good = Array(try Data(contentsOf: URL(fileURLWithPath: file)))
        for index in good.indices {
            var bad = good
            bad[index] ^= 1
            try Data(bad).write(to: URL(fileURLWithPath: file))
            #expect(throws: SecureStoreError.tampered(name: "session")) {
                try store.read("session")
            }
            try Data(good[..<index]).write(to: URL(fileURLWithPath: file))
            #expect(throws: SecureStoreError.tampered(name: "session")) {
                try store.read("session")
            }
        }
    }

    @Test
    func `R-100-11 a copy restored on another device, which has another master key, opens nothing`()
        throws
    {
        try records().replace("session", with: [1])
        let other = try MasterKey(bytes: [UInt8](repeating: 8, count: 32))
        #expect(throws: SecureStoreError.tampered(name: "session")) {
            try records(other).read("session")
        }
    }

    @Test func `R-100-10 a reader beside a writer sees whole records only`() async throws {
        let path = path
        let key = key
        try records().replace("session", with: [UInt8](repeating: 0, count: 5000))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let store = try EncryptedFileSecureStore(directory: path, masterKey: key)
                for round in 1...100 {
                    try store.replace(
                        "session", with: [UInt8](repeating: UInt8(round), count: 5000 + round))
                }
            }
            group.addTask {
                let store = try EncryptedFileSecureStore(directory: path, masterKey: key)
                for _ in 0..<300 {
                    let bytes = try #require(try store.read("session"))
                    let first = try #require(bytes.first)
                    #expect(bytes.count == 5000 + Int(first))
                    #expect(bytes.allSatisfy { $0 == first })
                }
            }
            try await group.waitForAll()
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).count == 1)
    }

    @Test
    func `what a crash left half written is neither read nor listed, and goes at the next start`()
        throws
    {
        let store = try records()
        try store.replace("session", with: [1])
        try directory.write([0, 1, 2], to: "store/.tmp-left")
        #expect(try store.read("session") == [1])
        #expect(try store.names(prefix: "") == ["session"])
        #expect(try records().read("session") == [1])
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).count == 1)
    }

    @Test func `R-100-10 a record that could not be read again is refused, and the old one stays`()
        throws
    {
        let store = try records()
        let longest = [UInt8](repeating: 1, count: (4 << 20) - 28)
        try store.replace("session", with: longest)
        #expect(try store.read("session") == longest)
        #expect(throws: SecureStoreError.self) { try store.replace("session", with: longest + [1]) }
        #expect(try store.read("session") == longest)
    }

    @Test func `a lock excludes another holder, in this process too, until it is given back`()
        throws
    {
        let (a, b) = (try records(), try records())
        let lock = try #require(try a.tryLock("refresh"))
        #expect(try b.tryLock("refresh") == nil)
        #expect(try a.tryLock("refresh") == nil)
        #expect(try b.tryLock("session") != nil)
        lock.release()
        lock.release()
        #expect(try b.tryLock("refresh") != nil)
        #expect(try a.names(prefix: "") == [])
    }

    @Test func `a lock ends with its process`() async throws {
        let store = try records()
        _ = try #require(try store.tryLock("refresh")).release()
        let file = path + "/.lock-" + Base64URL.encode("refresh".utf8)
        let script =
            "import fcntl,os,sys; fcntl.flock(os.open(sys.argv[1], os.O_RDWR), fcntl.LOCK_EX)"
        try await runChecked(["python3", "-c", script, file])
        #expect(try store.tryLock("refresh") != nil)
    }

    @Test(arguments: ["", String(repeating: "n", count: 151)])
    func `a name that cannot be a file's is refused`(_ name: String) throws {
        let store = try records()
        #expect(throws: SecureStoreError.badName) { try store.read(name) }
        #expect(throws: SecureStoreError.badName) { try store.replace(name, with: []) }
    }
}

/// One suite for every `KeyStore` (R-100-07).
@Suite struct KeyStoreTests {
    enum Kind: CaseIterable { case memory, files }

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func store(_ kind: Kind) throws -> any KeyStore {
        switch kind {
        case .memory: InMemoryKeyStore()
        case .files:
            try EncryptedFileKeyStore(
                directory: directory.file("keys"),
                masterKey: MasterKey(bytes: [UInt8](repeating: 7, count: 32)))
        }
    }

    @Test(arguments: Kind.allCases)
    func `R-100-07 a key signs what its public half verifies, until it is deleted`(_ kind: Kind)
        throws
    {
        let store = try store(kind)
        let jwk = try store.generate(label: "a")
        #expect(try store.publicJWK(label: "a") == jwk)
        let text = Array("text".utf8)
        let signature = try store.sign(label: "a", digest: SHA256.hash(text))
        #expect(signature.count == 64)
        #expect(try PublicKey(jwk).verifies(signature, over: text))
        #expect(try store.list() == ["a"])
        try store.delete(label: "a")
        try store.delete(label: "a")
        #expect(try store.list() == [])
        #expect(try store.publicJWK(label: "a") == nil)
        #expect(throws: KeyStoreError.missing(label: "a")) {
            try store.sign(label: "a", digest: SHA256.hash(text))
        }
        #expect(!store.isHardwareBacked)
    }

    @Test(arguments: Kind.allCases)
    func `a second key of one label is refused, also in a race`(_ kind: Kind) async throws {
        let store = try store(kind)
        let made = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 { group.addTask { (try? store.generate(label: "a")) != nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(made == 1)
        #expect(throws: KeyStoreError.exists(label: "a")) { try store.generate(label: "a") }
    }

    @Test(
        arguments: Kind.allCases, ["", "a/b", "..\u{0}", "ä", String(repeating: "a", count: 101)])
    func `a label that cannot name a key is refused`(_ kind: Kind, _ label: String) throws {
        let store = try store(kind)
        #expect(throws: KeyStoreError.badLabel) { try store.generate(label: label) }
        #expect(throws: KeyStoreError.badLabel) { try store.publicJWK(label: label) }
        #expect(throws: KeyStoreError.badLabel) { try store.delete(label: label) }
    }
}

@Suite struct MasterKeyTests {
    private let directory: TemporaryDirectory
    private let bytes = (0..<32).map { UInt8($0) }

    init() throws { directory = try TemporaryDirectory() }

    @Test func `it is read from a file in both forms`() throws {
        let raw = try directory.write(bytes, to: "raw")
        let text = try directory.write(Array((Base64URL.encode(bytes) + "\n").utf8), to: "text")
        #expect(try MasterKey(from: .file(raw)).bytes.expose() == bytes)
        #expect(try MasterKey(from: .file(text)).bytes.expose() == bytes)
    }

    @Test func `it is read from a descriptor`() throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data(bytes))
        try pipe.fileHandleForWriting.close()
        let descriptor = pipe.fileHandleForReading.fileDescriptor
        #expect(try MasterKey(from: .descriptor(descriptor)).bytes.expose() == bytes)
    }

    @Test(arguments: [0o640, 0o604, 0o660, 0o644])
    func `a file others can read is refused`(_ mode: Int) throws {
        let path = try directory.write(bytes, to: "key", mode: mode)
        #expect(throws: MasterKeyError.readableByOthers) { try MasterKey(from: .file(path)) }
    }

    @Test(arguments: [0, 31, 33, 64])
    func `another length is no key`(_ count: Int) throws {
        let path = try directory.write([UInt8](repeating: 65, count: count), to: "key")
        #expect(throws: MasterKeyError.notAKey) { try MasterKey(from: .file(path)) }
    }

    @Test func `a missing file, a directory and an unset variable give no key`() throws {
        #expect(throws: MasterKeyError.self) { try MasterKey(from: .file(directory.file("none"))) }
        #expect(throws: MasterKeyError.notAKey) { try MasterKey(from: .file(directory.path)) }
        #expect(throws: MasterKeyError.notAKey) {
            try MasterKey(from: .environment("TOKEN_BROKER_NO_SUCH_VARIABLE"))
        }
    }

    @Test func `it prints nothing of itself`() throws {
        var text = ""
        dump(try MasterKey(bytes: bytes), to: &text)
        #expect(!text.contains("31"))
    }
}
