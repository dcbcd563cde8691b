import ClientShim
import JOSE

/// Changes the stores of an app, and says before each change what it will do and after it that it is done.
struct StoreScript {
    /// Holds `records` and `keys`.
    let directory: String

    static let masterKey = [UInt8](repeating: 7, count: 32)

    /// Steps are `replace=NAME=TEXT`, `remove=NAME`, `generate=LABEL`,
    /// `delete=LABEL`, `read=NAME` and `lock=NAME`.
    /// - Returns: whether all went well; it stops at the first that did not.
    func run(_ steps: some Sequence<String>) -> Bool {
        do {
            let key = try MasterKey(bytes: Self.masterKey)
            let records = try EncryptedFileSecureStore(
                directory: directory + "/records", masterKey: key)
            let keys = try EncryptedFileKeyStore(directory: directory + "/keys", masterKey: key)
            for step in steps { try run(step, records, keys) }
            return true
        } catch {
            say("failed \(error)")
            return false
        }
    }

    private func run(
        _ step: String, _ records: EncryptedFileSecureStore, _ keys: EncryptedFileKeyStore
    ) throws {
        let words = step.split(separator: "=").map { String($0) }
        let name = words[1]
        say("begin " + words.joined(separator: " "))
        switch words[0] {
        case "replace": try records.replace(name, with: Array(words[2].utf8))
        case "remove": try records.remove(name)
        case "read": _ = try records.read(name)
        case "delete": try keys.delete(label: name)
        case "generate":
            say("done " + (try keys.generate(label: name)).thumbprint)
            return
        default:
            try records.tryLock(name)?.release()
        }
        say("done")
    }
}
