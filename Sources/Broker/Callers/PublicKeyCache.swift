import JOSE
import Synchronization

/// Parsed public keys of installs that proved themselves lately, within a fixed bound of memory. Parsing one costs a tenth of
/// a signature check, and a key that is known here is no stranger's.
///
/// When it is full the older half goes: two generations instead of a list of uses, so a look-up never reorders anything.
final class PublicKeyCache: Sendable {
    private struct Generations {
        var young: [PublicJWK.Material: PublicKey] = [:]
        var youngOctets = 0
        var old: [PublicJWK.Material: PublicKey] = [:]
    }

    private let generationOctets: Int
    private let generations = Mutex(Generations())

    /// - Parameter octets: memory for the keys, about; the default holds 4,096 keys on P-256, or fewer of RSA.
    init(octets: Int = 4096 * weight(.p256(x: [], y: []))) {
        generationOctets = octets / 2
    }

    /// The parsed key, when it is kept.
    func known(_ jwk: PublicJWK) -> PublicKey? {
        generations.withLock { $0.young[jwk.material] ?? $0.old[jwk.material] }
    }

    /// Keeps the key of a proof whose signature was good.
    func keep(_ key: PublicKey, for jwk: PublicJWK) {
        let weight = Self.weight(jwk.material)
        generations.withLock { generations in
            guard generations.young[jwk.material] == nil else { return }
            if generations.youngOctets + weight > generationOctets {
                generations.old = generations.young
                generations.young = [:]
                generations.youngOctets = 0
            }
            generations.young[jwk.material] = key
            generations.youngOctets += weight
        }
    }

    /// Lets go of a key whose holder failed.
    func forget(_ jwk: PublicJWK) {
        generations.withLock { generations in
            if generations.young.removeValue(forKey: jwk.material) != nil {
                generations.youngOctets -= Self.weight(jwk.material)
            }
            generations.old[jwk.material] = nil
        }
    }

    /// What a kept key takes, in octets: itself, OpenSSL's parsed form with its prepared context, and its place here.
    /// OpenSSL 3.0 alone was measured at 3.0 KB (P-256), 2.5 KB (RSA 2048) and 3.5 KB (RSA 4096).
    static func weight(_ material: PublicJWK.Material) -> Int {
        switch material {
        case .p256: 4096
        case .rsa(let modulus, let exponent): 2048 + 6 * (modulus.count + exponent.count)
        }
    }
}
