/// `broker limits replay`: runs past logs against other limits.
enum LimitsReplayCommand {
    static let help = """
        replay    runs past logs against the limits of FILE and prints what would have changed: for each
                  limit how many mints it refused then and would have refused, how many more and fewer
                  and the first of them, and the installs most affected. FILE has the form of a declaration,
                  of which only tenants, clients and limits are looked at; a client without limits has the
                  defaults. LOG is a file with the broker's events, a line each, or - for standard input;
                  several are put in order by ts. Lines that are not the broker's are counted and named.
                  Needs no database, and memory that does not grow with the logs.
                  Callers would have behaved otherwise: who is let in comes back less often, who is
                  refused comes back once more. Permits that lanes hold on lease are not modelled.
        """

    /// As many descriptors as any shell allows.
    private static let mostLogs = 256

    static func run(_ words: [String]) throws(CommandError) {
        let arguments = try Arguments(
            words, options: ["--policy"], flags: ["--json"], positional: 1...mostLogs)
        let logs = arguments.positional
        guard logs.count(where: { $0 == "-" }) <= 1 else { throw .usage("- is given twice") }
        let path = try arguments.required("--policy")
        let policy: ReplayPolicy
        let bytes = try TextFile.read(path)
        do {
            policy = try ReplayPolicy(bytes)
        } catch {
            throw .refused(error.faults.map { "\(path): \($0)" }.joined(separator: "\n"))
        }
        let report = ReplayReport(replay: try Replay(logs, policy: policy), policy: policy)
        if arguments.has("--json") {
            Output.line(report.json)
        } else {
            report.text.forEach(Output.line)
            report.notes.forEach { Output.note("note: \($0)") }
        }
    }
}
