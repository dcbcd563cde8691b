import AssertionMint

/// Finds out whether a mint could succeed now: the database takes writes, its schema fits, the declaration is loaded and every
/// client has a usable key.
struct ReadinessProbe: Sendable {
    let database: StoreReadiness
    let directories: DirectoryKeeper

    func report() async -> ReadinessReport {
        ReadinessReport(parts: [
            .init(name: "database", fault: await databaseFault()),
            .init(name: "declaration", fault: directories.current == nil ? "not_loaded" : nil),
            .init(name: "keys", fault: keyFault),
        ])
    }

    private func databaseFault() async -> String? {
        switch await database.check() {
        case .ready: nil
        case .notReady(let fault): fault.rawValue
        }
    }

    private var keyFault: String? {
        // Anybody may ask, so neither which client nor why is said: that stands in the log, as `key.unusable`.
        directories.current?.unusableClients.isEmpty == false ? "a client has no usable key" : nil
    }
}
