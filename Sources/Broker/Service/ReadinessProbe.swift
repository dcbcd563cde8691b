/// Finds out whether a mint could succeed now: the database takes writes, its schema fits, the declaration is loaded and every
/// client has a usable key.
struct ReadinessProbe: Sendable {
    private let database: StoreProbe
    private let directories: DirectoryKeeper

    init(conninfo: String, directories: DirectoryKeeper) {
        database = StoreProbe(conninfo: conninfo)
        self.directories = directories
    }

    func report() async -> ReadinessReport {
        let fault = await database.fault()
        return ReadinessReport(parts: [
            .init(name: "database", fault: fault),
            .init(name: "declaration", fault: directories.current == nil ? "not loaded" : nil),
            .init(name: "keys", fault: keyFault),
        ])
    }

    private var keyFault: String? {
        let clients = directories.current?.unusableClients ?? []
        guard !clients.isEmpty else { return nil }
        // Names only: the reason may tell a path, which is for the log.
        return "no usable key for " + clients.map(\.0.rawValue).joined(separator: ", ")
    }
}
