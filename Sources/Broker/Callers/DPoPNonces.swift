import JOSE

/// The broker's own DPoP nonces (RFC 9449 §8): an authentication code over a time slot, so that every replica with the same
/// secrets makes and accepts the same ones and none remembers any.
///
/// Secrets rotate. A new one checks nonces as soon as it is known, and makes them only from `activeFrom` on, when every
/// replica knows it; the one before it goes on checking until none of its nonces can be alive (docs/adr/0008).
struct DPoPNonces: Sendable {
    /// A secret and when it takes over.
    struct Secret: Sendable, Equatable {
        /// 32 octets.
        let value: [UInt8]
        /// When it begins to make nonces, seconds since 1970 UTC on this process's clock.
        let activeFrom: Int64

        /// - Parameters:
        ///   - age: seconds since it was made, on the database's clock.
        ///   - now: the same moment on this process's clock, seconds since 1970 UTC; both clocks need not agree.
        init(value: [UInt8], age: Int64, now: Int64) {
            self.value = value
            activeFrom = now - age + DPoPNonces.activationDelay
        }
    }

    /// Seconds a slot lasts; a nonce is good in its own slot and in the next.
    static let slotSeconds: Int64 = 60
    /// Seconds between the making of a secret and its first nonce: replicas look for changes every second.
    static let activationDelay: Int64 = 60
    /// Seconds a secret still checks after the next one took over: two slots, and one between two replicas' clocks.
    static let overlap = 3 * slotSeconds

    /// The newest first.
    private let makers: [(activeFrom: Int64, nonces: SlotNonces)]

    /// - Parameter secrets: at least one, each of 32 octets, in any order.
    init?(secrets: [Secret]) {
        guard !secrets.isEmpty, secrets.allSatisfy({ $0.value.count == 32 }) else { return nil }
        makers = secrets.sorted { $0.activeFrom > $1.activeFrom }
            .map { ($0.activeFrom, SlotNonces(secret: $0.value)) }
    }

    /// The nonce to give out at `now` (seconds since 1970 UTC), 24 base64url characters.
    func current(now: Int64) -> String {
        let maker = makers.first { $0.activeFrom <= now } ?? makers[makers.count - 1]
        return maker.nonces[now / Self.slotSeconds]
    }

    /// Whether `nonce` was given out in this slot or the last one. The next slot counts too: another replica's clock may be
    /// a little ahead.
    func accepts(_ nonce: String?, now: Int64) -> Bool {
        guard let nonce, nonce.utf8.count == 24 else { return false }
        let given = Array(nonce.utf8)
        let slot = now / Self.slotSeconds
        var successorActiveFrom: Int64?
        for (activeFrom, nonces) in makers {
            // All that are older were replaced even earlier.
            if let successorActiveFrom, successorActiveFrom + Self.overlap < now { return false }
            for slot in [slot, slot - 1, slot + 1]
            where constantTimeEquals(given, Array(nonces[slot].utf8)) {
                return true
            }
            successorActiveFrom = activeFrom
        }
        return false
    }
}
