/// All that was found, in the order in which it was looked at.
struct Diagnosis: Sendable {
    var findings: [Finding] = []
    /// What could not be looked at, and what that would take; a line each.
    var notChecked: [String] = []
    /// What the clients' assertions look like at this moment.
    var dryMints: [DryMint] = []

    func count(_ level: FindingLevel) -> Int { findings.count { $0.level == level } }

    /// The worst level there is.
    var result: FindingLevel {
        count(.fault) > 0 ? .fault : count(.warning) > 0 ? .warning : .ok
    }

    /// `2 faults, 1 warning, 14 ok`.
    var summary: String {
        func counted(_ level: FindingLevel, _ plural: String) -> String {
            "\(count(level)) \(count(level) == 1 ? level.rawValue : plural)"
        }
        return [counted(.fault, "faults"), counted(.warning, "warnings"), counted(.ok, "ok")]
            .joined(separator: ", ")
    }
}
