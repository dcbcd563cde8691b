import AssertionMint

/// What the lines of the logs were.
struct ReplayLines: Sendable {
    struct Fault: Sendable {
        let file: String
        let line: Int
        let reason: String
    }

    /// Faults that are told one by one; all are counted.
    static let mostNamed = 20

    private(set) var total = 0
    /// Events that no limit decided.
    private(set) var other = 0
    private(set) var corrupt = 0
    private(set) var faults: [Fault] = []
    /// Mints of clients that the policy does not name.
    private(set) var unnamed = 0
    private(set) var unnamedClients: Set<ClientId> = []

    /// Reads one line; `nil` when it is no mint to be decided.
    mutating func enter(
        _ line: LogReader.Line, of reader: LogReader, _ policy: ReplayPolicy
    ) -> ReplaySource.Mint? {
        total += 1
        do throws(LogFault) {
            guard case .text(let octets) = line else {
                throw LogFault("longer than \(LogReader.longestLine) octets")
            }
            guard case .mint(let mint) = try LoggedLine(octets) else {
                other += 1
                return nil
            }
            guard let client = policy.place(of: mint.clientId) else {
                unnamed += 1
                if unnamedClients.count < Self.mostNamed { unnamedClients.insert(mint.clientId) }
                return nil
            }
            return ReplaySource.Mint(
                at: mint.at, install: InstallKey(client: client, jkt: mint.jkt),
                refusedBy: mint.refusedBy)
        } catch {
            corrupt += 1
            if faults.count < Self.mostNamed {
                faults.append(
                    Fault(file: reader.name, line: reader.lineNumber, reason: error.reason))
            }
            return nil
        }
    }
}
