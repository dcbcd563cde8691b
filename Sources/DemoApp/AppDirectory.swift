import ClientShim
import FoundationEssentials
import JOSE

/// A fresh app: an empty directory with a master key of its own, removed at the end.
final class AppDirectory {
    private let path: String
    private let masterKey: MasterKey

    init() throws {
        let name = "demo-app-" + Base64URL.encode(try SecureRandom.bytes(9))
        path = FileManager.default.temporaryDirectory.appending(path: name).path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700]
        )
        masterKey = try MasterKey(bytes: try SecureRandom.bytes(32))
    }

    deinit { remove() }

    /// Removes it now: a program that exits runs no `deinit`.
    func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// What the app injects into the SDK.
    func environment(caFile: String) throws -> AuthnEnvironment {
        AuthnEnvironment(
            keyStore: try EncryptedFileKeyStore(directory: path + "/keys", masterKey: masterKey),
            store: try EncryptedFileSecureStore(directory: path + "/records", masterKey: masterKey),
            transport: CurlTransport(caFile: caFile), faceEngine: ScriptedFaceEngine())
    }
}
