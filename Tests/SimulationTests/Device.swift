import JOSE

@testable import ClientShim

/// What of a phone outlives the app's process: its keys, its disk, its clock.
///
/// Sendable: touched on the run's thread only.
final class Device: @unchecked Sendable {
    let keys = InMemoryKeyStore(KeyPool.deviceKeys())
    var records: [String: [UInt8]] = [:]
    /// Who holds which lock.
    var locks: [String: Int] = [:]
    /// How far the device's clock is ahead, milliseconds.
    var clockOffset: Int64 = 0

    static let sessionName = "session"

    /// Whether a session may go because its key is gone (R-100-15).
    private(set) var hasLostKey = false

    func loseInstallKey() {
        hasLostKey = true
        for label in (try? keys.list()) ?? [] where label.hasPrefix("dpop-") {
            try? keys.delete(label: label)
        }
    }

    /// The session on disk.
    var session: SessionRecord? { records[Self.sessionName].flatMap(SessionRecord.init(bytes:)) }
}
