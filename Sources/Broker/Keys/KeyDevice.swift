import JOSE
import Synchronization

/// A key in an HSM or a TPM and the threads it signs on: a lane asks and goes on.
final class KeyDevice: Sendable {
    /// How long a signature may take.
    static let limitMilliseconds = 2000
    /// For how long a good signature proves that the device is there.
    private static let trustMicroseconds: Int64 = 5_000_000

    private let key: PrivateKey
    private let threads: BlockingThreads
    private let goodUntil = Mutex<MonotonicTime?>(nil)

    init(_ key: PrivateKey, threads: BlockingThreads) {
        self.key = key
        self.threads = threads
    }

    /// Why nothing could be signed at this moment, when that is known without asking the device.
    var refusal: KeyError? { threads.refusal }

    /// Runs `work`, which signs with the key, and tells `then` exactly once, in bounded time, on whatever thread.
    func sign<Value: Sendable>(
        _ work: @escaping @Sendable () throws(KeyError) -> Value,
        then: @escaping @Sendable (Result<Value, KeyError>) -> Void
    ) {
        threads.run(within: Self.limitMilliseconds, work) { result in
            let isGood = (try? result.get()) != nil
            self.goodUntil.withLock {
                $0 = isGood ? MonotonicTime.now().adding(microseconds: Self.trustMicroseconds) : nil
            }
            then(result)
        }
    }

    /// Whether the device signs, by the last signature if that is fresh, else by one more.
    func check() async -> KeyError? {
        if let until = goodUntil.withLock({ $0 }), until > MonotonicTime.now() { return nil }
        return await withCheckedContinuation { continuation in
            sign { () throws(KeyError) in
                _ = try self.key.sign(Array("readiness".utf8))
            } then: { result in
                if case .failure(let error) = result {
                    continuation.resume(returning: error)
                } else {
                    continuation.resume(returning: nil)
                }
            }
        }
    }
}
