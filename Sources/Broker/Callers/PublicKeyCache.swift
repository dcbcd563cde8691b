import JOSE
import Synchronization

/// Parsed public keys of recent installs, within a fixed bound: parsing one costs a tenth of a signature check.
///
/// When it is full the older half goes: two generations instead of a list of uses, so a look-up never reorders anything.
final class PublicKeyCache: Sendable {
    private struct Generations {
        var young: [PublicJWK.Material: PublicKey] = [:]
        var old: [PublicJWK.Material: PublicKey] = [:]
    }

    private let generationSize: Int
    private let generations = Mutex(Generations())

    /// - Parameter capacity: keys kept at most.
    init(capacity: Int = 4096) {
        generationSize = max(1, capacity / 2)
    }

    /// The key of `jwk`, from the cache or parsed now.
    func key(for jwk: PublicJWK) throws(JWKError) -> PublicKey {
        if let known = generations.withLock({ $0.young[jwk.material] ?? $0.old[jwk.material] }) {
            return known
        }
        let key = try PublicKey(jwk)
        generations.withLock { generations in
            if generations.young.count >= generationSize {
                generations.old = generations.young
                generations.young = [:]
            }
            generations.young[jwk.material] = key
        }
        return key
    }
}
