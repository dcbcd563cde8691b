@testable import Broker

extension ConsumeRecord {
    /// A use that is consumed, unless what a test changed stands against it.
    static func valid(
        hash: [UInt8] = (0..<32).map { _ in UInt8.random(in: 0...255) }, expiresAt: Int64? = nil,
        revision: Int64 = 0
    ) -> ConsumeRecord {
        ConsumeRecord(
            hash: hash, expiresAt: expiresAt ?? wallClockMicroseconds() / 1_000_000 + 60,
            revision: revision)
    }
}
