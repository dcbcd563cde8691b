import JOSE
import Synchronization

/// The private keys this process holds, each loaded once and kept from one directory to the next.
final class SigningKeys: Sendable {
    /// A key and, where it is in a device, what signs with it without holding up a lane.
    struct Loaded: Sendable {
        let key: PrivateKey
        let device: KeyDevice?
    }

    typealias Loader = @Sendable (String) throws(KeyError) -> PrivateKey

    /// How long opening a key may take.
    private static let limitMilliseconds = 5000

    private let load: Loader
    private let threads: KeyThreads
    private let loaded = Mutex<[String: Loaded]>([:])

    init(
        threads: KeyThreads = KeyThreads(),
        load: @escaping Loader = { (uri) throws(KeyError) in try PrivateKey.load(uri: uri) }
    ) {
        self.threads = threads
        self.load = load
    }

    /// Without a key, but with the same threads: what hangs there hangs for both.
    func emptied() -> SigningKeys { SigningKeys(threads: threads, load: load) }

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

    /// Holds the keys of `other` from now on, and no others.
    func adopt(_ other: SigningKeys) {
        let keys = other.loaded.withLock(\.self)
        loaded.withLock { $0 = keys }
    }

    /// Lets go of every key that is not at one of these URIs.
    func keep(only uris: Set<String>) {
        loaded.withLock { loaded in loaded = loaded.filter { uris.contains($0.key) } }
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
