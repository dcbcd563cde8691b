import JOSE

/// Server nonces without a memory: an HMAC over the time slot; the current and the previous slot's are good
/// (RFC 9449 §8, §11.3).
struct NonceMaker: Sendable {
    private let key: [UInt8]
    private let purpose: String
    private let slotSeconds: Int64

    /// - Parameters:
    ///   - key: 32 secret octets.
    ///   - purpose: keeps the nonces of two servers with one key apart.
    ///   - slotSeconds: a nonce is good for this long at least and twice this long at most.
    init(key: [UInt8], purpose: String, slotSeconds: Int64 = 120) {
        self.key = key
        self.purpose = purpose
        self.slotSeconds = slotSeconds
    }

    /// The newest nonce.
    func current(_ now: Int64) -> String {
        nonce(now / slotSeconds)
    }

    /// Whether a client may still use `nonce`.
    func accepts(_ nonce: String, _ now: Int64) -> Bool {
        let slot = now / slotSeconds
        return [slot, slot - 1].contains {
            constantTimeEquals(Array(nonce.utf8), Array(self.nonce($0).utf8))
        }
    }

    private func nonce(_ slot: Int64) -> String {
        let code = SHA256.authenticationCode(of: Array("\(purpose) \(slot)".utf8), key: key)
        return Base64URL.encode(code.prefix(18))
    }
}
