import AssertionMint

/// Finds out whether a mint could succeed now: the database takes writes, its schema fits, the declaration is loaded and every
/// client has a usable key, and the clock is not so far off the database's that this refuses mints.
struct ReadinessProbe: Sendable {
    let database: StoreReadiness
    let directories: DirectoryKeeper
    let clock: ClockWatch

    func report() async -> ReadinessReport {
        ReadinessReport(parts: [
            .init(name: "database", fault: await databaseFault()),
            .init(name: "declaration", fault: declarationFault),
            .init(name: "keys", fault: await keyFault()),
            clock.part,
        ])
    }

    private var declarationFault: String? {
        guard directories.current != nil else { return "not_loaded" }
        return directories.isBehind ? "newest_not_loaded" : nil
    }

    private func databaseFault() async -> String? {
        switch await database.check() {
        case .ready: nil
        case .notReady(let fault): fault.rawValue
        }
    }

    private func keyFault() async -> String? {
        guard let directory = directories.current else { return nil }
        // Anybody may ask, so neither which client nor why is said: that stands in the log, as `key.unusable` or as the cause
        // of a mint that was refused.
        let fault = "a client has no usable key"
        guard directory.unusableClients.isEmpty else { return fault }
        // Devices at once, so that one that does not answer makes nobody wait for the next.
        return await withTaskGroup(of: Bool.self) { group in
            for device in directory.clients.values.compactMap(\.device) {
                group.addTask { await device.check() == nil }
            }
            return await group.allSatisfy(\.self) ? nil : fault
        }
    }
}
