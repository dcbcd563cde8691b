import Synchronization

/// Remembers used proofs, so that each works once (RFC 9449 §11.1). An API on several nodes gives its own, over a store that they share.
public protocol ProofMemory: Sendable {
    /// Whether this is the first use of a proof; from then on it is used. One atomic step: of two that ask at the same time, one is first.
    ///
    /// - Parameters:
    ///   - proof: 32 octets that name it (`VerifiedDPoPProof.replayHash`).
    ///   - until: seconds since 1970 UTC up to which a second use must be recognised.
    ///   - now: seconds since 1970 UTC.
    /// - Throws: `ProofMemoryFault` when nobody can say; then the request is not served.
    func spend(_ proof: [UInt8], until: Int64, now: Int64) async throws(ProofMemoryFault) -> Bool
}

/// A use could not be recorded.
public struct ProofMemoryFault: Error, Equatable {
    /// The only fault there is.
    public init() {}
}

/// The memory of one process, of bounded size. It never forgets a proof that could still be accepted: a full one records no more.
public final class BoundedProofMemory: ProofMemory {
    private struct State {
        var expiries: [SIMD4<UInt64>: Int64] = [:]
        var sweptAt = Int64.min
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// - Parameter capacity: proofs, some 60 octets each. One stays for `maximumProofAge` seconds, so this is 60 times the requests a
    ///   second, and more.
    public init(capacity: Int = 1_000_000) {
        self.capacity = max(1, capacity)
    }

    /// How many proofs it holds.
    public var count: Int { state.withLock { $0.expiries.count } }

    /// Whether this is the first use.
    ///
    /// - Throws: when it is full of proofs that could still be accepted.
    public func spend(
        _ proof: [UInt8], until: Int64, now: Int64
    ) async throws(ProofMemoryFault) -> Bool {
        guard let name = Self.name(proof) else { throw ProofMemoryFault() }
        let isFirst: Bool? = state.withLock { state in
            // At most once a second, so that a full memory does not cost a look at everything for each request.
            if state.sweptAt != now, state.expiries.count >= min(capacity, 1024) {
                state.sweptAt = now
                state.expiries = state.expiries.filter { $0.value >= now }
            }
            if let expiry = state.expiries[name], expiry >= now { return false }
            guard state.expiries.count < capacity else { return nil }
            state.expiries[name] = until
            return true
        }
        guard let isFirst else { throw ProofMemoryFault() }
        return isFirst
    }

    private static func name(_ proof: [UInt8]) -> SIMD4<UInt64>? {
        guard proof.count == 32 else { return nil }
        var name = SIMD4<UInt64>()
        for (index, octet) in proof.enumerated() {
            name[index / 8] = name[index / 8] << 8 | UInt64(octet)
        }
        return name
    }
}
