import JOSE
import Synchronization

@testable import SandboxIdP

/// Keys that are made once a process and serve in many runs, since making and trying one takes longer than ten signatures.
/// Within one run no key has two owners.
enum KeyPool {
    /// The client's, at the broker.
    static let client = Result { try PrivateKey.generate(.ES256) }
    /// The provider's, for its tokens.
    static let tokens = Result { try TokenSigner() }
    /// More than the devices of nearly all runs make.
    private static let devices = (0..<8).compactMap { _ in try? PrivateKey.generate(.ES256) }

    /// The keys of one device, one after the other; new ones when the pool is empty.
    static func deviceKeys() -> @Sendable () throws(KeyError) -> PrivateKey {
        let taken = Counter()
        return { () throws(KeyError) in
            let index = taken.next()
            return index < devices.count ? devices[index] : try PrivateKey.generate(.ES256)
        }
    }

    private final class Counter: Sendable {
        private let count = Atomic(0)
        func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
    }
}
