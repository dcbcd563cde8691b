import AssertionMint
import JOSE

/// Opens keys that are published and do not sign yet, so that a replica which cannot reach one says so while there is time, and has it
/// at hand when it takes over. Beside everything else: a device that hangs holds up nobody.
actor PendingKeyWatch {
    private let keys: SigningKeys
    private let report: @Sendable (ClientId, String, KeyError) -> Void
    /// What was said last, by client and kid.
    private var faults: [String: String] = [:]
    private var isLooking = false

    /// - Parameter report: is told of each key that cannot be opened, when it shows and when the reason changes.
    init(keys: SigningKeys, report: @escaping @Sendable (ClientId, String, KeyError) -> Void) {
        self.keys = keys
        self.report = report
    }

    /// Tries every pending key that is not open yet. While one look lasts, another does nothing.
    func look(at directory: Directory) async {
        guard !isLooking else { return }
        isLooking = true
        defer { isLooking = false }
        var found: [String: String] = [:]
        for client in directory.clients.values {
            for key in client.pendingKeys {
                do throws(KeyError) {
                    _ = try await keys.key(uri: key.uri, publicJWK: key.publicJWK)
                } catch {
                    let name = "\(client.id) \(key.kid)"
                    found[name] = "\(error)"
                    if faults[name] != found[name] { report(client.id, key.kid, error) }
                }
            }
        }
        faults = found
    }
}
