import AssertionMint
import JOSE

/// `broker limits show`: which limits hold, and how much of them is left.
enum LimitsShowCommand {
    static let help = """
        show      tells which limits hold and how much of them is left, on the database's clock: of all tenants
                  and clients, of one client, or with --jkt of one install too. What lanes hold on lease
                  counts as used. A shadow limit stands beside the one in force. With --json one object; times in it are RFC 3339, waits microseconds.
        """

    static func run(_ words: [String]) async throws(CommandError) {
        let arguments = try Arguments(
            words, options: DatabaseOptions.options.union(["--client", "--jkt"]),
            flags: ["--json"])
        let client = try LimitSubject.client(arguments)
        let jkt = try LimitSubject.jkt(arguments)
        guard client != nil || jkt == nil else { throw .usage("--jkt needs --client") }
        let repository = LimitRepository(connection: try DatabaseOptions.connection(arguments))
        let rows: LimitRows
        do { rows = try await repository.rows(jkt: jkt) } catch { throw CommandError(error) }
        guard client == nil || rows.clients.contains(where: { $0.id == client }) else {
            throw .notFound("there is no such client")
        }
        let limits = StandingLimits(rows, client: client, jkt: jkt).limits
        if arguments.has("--json") {
            Output.line(json(limits, rows))
        } else {
            limits.forEach { Output.line($0.text) }
        }
    }

    private static func json(_ limits: [StandingLimit], _ rows: LimitRows) -> String {
        var json = JSONWriter(capacity: 4096)
        json.object {
            $0.member("now", Timestamp.rfc3339(microseconds: rows.now))
            $0.member("revision", rows.revision)
            $0.name("limits")
            $0.array { json in limits.forEach { $0.write(to: &json) } }
        }
        return json.text
    }
}
