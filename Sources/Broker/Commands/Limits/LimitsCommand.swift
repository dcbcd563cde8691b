/// `broker limits show|override|clear|replay`.
enum LimitsCommand {
    static let help = """
        Usage: broker limits show [--client CLIENT_ID [--jkt JKT]] [--json]
               broker limits override SUBJECT --burst N --rate N --per SECONDS --for 2h [--reason TEXT]
               broker limits override SUBJECT --lift
               broker limits clear SUBJECT
               broker limits replay LOG... --policy FILE [--json]

        SUBJECT is --tenant T, --client CLIENT_ID (the limit on all of its installs together), --client CLIENT_ID
        --jkt JKT (one install), or, to override, --client CLIENT_ID --each-install.

        \(LimitsShowCommand.help)
        \(LimitsOverrideCommand.help)
        \(LimitsReplayCommand.help)

        All but replay are for members of the database's role broker_operator, or the owner of the schema.

        \(DatabaseOptions.help)
        """

    static func run(_ words: [String]) async throws(CommandError) {
        let rest = Array(words.dropFirst())
        switch words.first {
        case "show": try await LimitsShowCommand.run(rest)
        case "override": try await LimitsOverrideCommand.override(rest)
        case "clear": try await LimitsOverrideCommand.clear(rest)
        case "replay": try LimitsReplayCommand.run(rest)
        default: throw .usage("the word after 'limits' must be show, override, clear or replay")
        }
    }
}
