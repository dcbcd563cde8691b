import JOSE
import Synchronization

/// The private keys and shared secrets this process holds, each loaded once and kept from one directory to the next.
final class SigningKeys: Sendable {
    /// A key and, where it is in a device, what signs with it without holding up a lane.
    struct Loaded: Sendable {
        let key: PrivateKey
        let device: KeyDevice?
    }

    typealias Loader = @Sendable (String) throws(KeyError) -> PrivateKey
    typealias SecretLoader = @Sendable (String) throws(SharedSecretError) -> SharedSecret

    /// How long opening a key may take.
    private static let limitMilliseconds = 5000

    private let load: Loader
    private let loadSecret: SecretLoader
    private let threads: KeyThreads
    private let loaded = Mutex<[String: Loaded]>([:])
    /// Apart from the keys: one of these can never be taken for one of those.
    private let secrets = Mutex<[String: SharedSecret]>([:])

    init(
        threads: KeyThreads = KeyThreads(),
        load: @escaping Loader = { (uri) throws(KeyError) in try PrivateKey.load(uri: uri) },
        loadSecret: @escaping SecretLoader = { (uri) throws(SharedSecretError) in
            try SharedSecret.load(uri: uri)
        }
    ) {
        self.threads = threads
        self.load = load
        self.loadSecret = loadSecret
    }

    /// Without a key, but with the same threads: what hangs there hangs for both.
    func emptied() -> SigningKeys {
        SigningKeys(threads: threads, load: load, loadSecret: loadSecret)
    }

    /// The private half of `publicJWK` at `uri`.
    ///
    /// - Throws: `KeyError`: `.unusable` when the key there is another than the one that was declared, `.notAnswering` when it
    ///   could not be opened in time.
    func key(uri: String, publicJWK: PublicJWK) async throws(KeyError) -> Loaded {
        if let known = loaded.withLock({ $0[uri] }),
            known.key.publicJWK.material == publicJWK.material
        {
            return known
        }
        let load = load
        // Even a file may lie where reading takes for ever.
        let key = try await threads.loading(uri).run(within: Self.limitMilliseconds) {
            () throws(KeyError) in try load(uri)
        }
        guard key.publicJWK.material == publicJWK.material else { throw .unusable }
        let fresh = Loaded(
            key: key,
            device: key.device.map { KeyDevice(key, threads: threads.signing(on: $0)) })
        loaded.withLock { $0[uri] = fresh }
        return fresh
    }

    /// The shared secret at `uri`. A file that was replaced is read again only by `emptied()`: what it held is written down
    /// nowhere, so nothing could tell.
    func secret(uri: String) async throws(SharedSecretError) -> SharedSecret {
        if let known = secrets.withLock({ $0[uri] }) { return known }
        let loadSecret = loadSecret
        let result: Result<SharedSecret, SharedSecretError>
        do {
            result = try await threads.loading(uri).run(within: Self.limitMilliseconds) {
                do throws(SharedSecretError) { return .success(try loadSecret(uri)) } catch {
                    return .failure(error)
                }
            }
        } catch { throw .file(error) }
        let secret = try result.get()
        secrets.withLock { $0[uri] = secret }
        return secret
    }

    /// Holds the keys and secrets of `other` from now on, and no others.
    func adopt(_ other: SigningKeys) {
        let (keys, newSecrets) = (other.loaded.withLock(\.self), other.secrets.withLock(\.self))
        loaded.withLock { $0 = keys }
        secrets.withLock { $0 = newSecrets }
    }

    /// Lets go of every key and secret that is not at one of these URIs.
    func keep(only uris: Set<String>) {
        loaded.withLock { loaded in loaded = loaded.filter { uris.contains($0.key) } }
        secrets.withLock { secrets in secrets = secrets.filter { uris.contains($0.key) } }
    }
}

/// The threads that may wait for devices: some for each device to sign on, and one for each key to be opened on, so that
/// what hangs holds up nothing else.
final class KeyThreads: Sendable {
    private let devices = Mutex<[String: BlockingThreads]>([:])
    private let loaders = Mutex<[String: BlockingThreads]>([:])

    func signing(on device: String) -> BlockingThreads {
        devices.withLock { $0.value(for: device) { BlockingThreads() } }
    }

    func loading(_ uri: String) -> BlockingThreads {
        loaders.withLock { $0.value(for: uri) { BlockingThreads(threads: 1, waiting: 4) } }
    }
}

extension Dictionary {
    fileprivate mutating func value(for key: Key, _ make: () -> Value) -> Value {
        if let value = self[key] { return value }
        let value = make()
        self[key] = value
        return value
    }
}
