import Foundation
import JOSE

@testable import ClientShim

/// What the stores must hold, by what the probe said: every change it called done, and before or after the one it had begun.
struct StoreExpectation: Hashable {
    private var records: [String: String] = [:]
    /// Thumbprints by label.
    private var keys: [String: String] = [:]
    /// The words of the change that was begun and not called done.
    private(set) var begun: [String] = []

    static let masterKey = [UInt8](repeating: 7, count: 32)

    /// - Parameter lines: what the probe said so far.
    init(_ lines: some Sequence<String>) {
        for line in lines {
            let words = line.split(separator: " ").map { String($0) }
            switch words.first {
            case "begin": begun = Array(words.dropFirst())
            case "done":
                switch begun[0] {
                case "replace": records[begun[1]] = begun[2]
                case "remove": records[begun[1]] = nil
                case "generate": keys[begun[1]] = words[1]
                case "delete": keys[begun[1]] = nil
                default: break
                }
                begun = []
            default: break
            }
        }
    }

    /// The change that was begun must not have happened.
    func withoutBegun() -> StoreExpectation {
        var expectation = self
        expectation.begun = []
        return expectation
    }

    /// Opens the stores in that directory as an app does that starts, and says what is wrong with them.
    func complaints(about directory: String) -> [String] {
        do {
            let key = try MasterKey(bytes: Self.masterKey)
            let recordStore = try EncryptedFileSecureStore(
                directory: directory + "/records", masterKey: key)
            let keyStore = try EncryptedFileKeyStore(
                directory: directory + "/keys", masterKey: key)
            return try complaints(about: recordStore) + complaints(about: keyStore)
                + leavings(in: directory)
        } catch {
            return ["\(error)"]
        }
    }

    private func complaints(about store: EncryptedFileSecureStore) throws -> [String] {
        let names = Set(records.keys).union(try store.names(prefix: "")).union(begun.dropFirst())
        return try names.filter { $0.utf8.count < 40 }.compactMap { name in
            let text = try store.read(name).map { String(decoding: $0, as: UTF8.self) }
            var allowed = [records[name]]
            if begun.starts(with: ["replace", name]) { allowed.append(begun[2]) }
            if begun == ["remove", name] { allowed.append(nil) }
            return allowed.contains(text) ? nil : "record \(name) is \(text ?? "missing")"
        }
    }

    private func complaints(about store: EncryptedFileKeyStore) throws -> [String] {
        let labels = Set(keys.keys).union(try store.list())
        return try labels.compactMap { label in
            let found = try store.publicJWK(label: label)
            if found?.thumbprint == keys[label] { return nil }
            if found == nil, begun == ["delete", label] { return nil }
            if let found, keys[label] == nil, begun == ["generate", label] {
                let signature = try store.sign(label: label, digest: SHA256.hash([1]))
                if try PublicKey(found).verifies(signature, over: [1]) { return nil }
            }
            return "key \(label) is \(found?.thumbprint ?? "missing")"
        }
    }

    private func leavings(in directory: String) throws -> [String] {
        try ["records", "keys"].flatMap { folder in
            try FileManager.default.contentsOfDirectory(atPath: "\(directory)/\(folder)")
                .filter { $0.hasPrefix(".tmp-") }.map { "\(folder)/\($0) was left" }
        }
    }
}
