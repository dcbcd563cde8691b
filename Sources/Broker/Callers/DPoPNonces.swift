import JOSE

/// The broker's own DPoP nonces (RFC 9449 §8): an authentication code over a time slot, so that every replica with the same
/// secret makes and accepts the same ones and none remembers any.
struct DPoPNonces: Sendable {
    /// Seconds a slot lasts; a nonce is good in its own slot and in the next.
    static let slotSeconds: Int64 = 60

    private let secrets: [[UInt8]]

    /// - Parameter secrets: the newest first, it makes the nonces; older ones still check them. At least one, of 32 octets.
    init?(secrets: [[UInt8]]) {
        guard !secrets.isEmpty, secrets.allSatisfy({ $0.count == 32 }) else { return nil }
        self.secrets = secrets
    }

    /// The nonce to give out at `now` (seconds since 1970 UTC), 24 base64url characters.
    func current(now: Int64) -> String {
        Self.nonce(secret: secrets[0], slot: now / Self.slotSeconds)
    }

    /// Whether `nonce` was given out in this slot or the last one. The next slot counts too: another replica's clock may be
    /// a little ahead.
    func accepts(_ nonce: String?, now: Int64) -> Bool {
        guard let nonce, nonce.utf8.count == 24 else { return false }
        let given = Array(nonce.utf8)
        let slot = now / Self.slotSeconds
        return secrets.contains { secret in
            [slot, slot - 1, slot + 1].contains {
                constantTimeEquals(given, Array(Self.nonce(secret: secret, slot: $0).utf8))
            }
        }
    }

    private static func nonce(secret: [UInt8], slot: Int64) -> String {
        let code = SHA256.authenticationCode(of: Array("dpop-nonce \(slot)".utf8), key: secret)
        return Base64URL.encode(code.prefix(18))
    }
}
