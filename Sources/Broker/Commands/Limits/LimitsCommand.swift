/// `broker limits replay`: what concerns rate limits.
enum LimitsCommand {
    static let help = """
        Usage: broker limits replay LOG... --policy FILE [--json]

        \(LimitsReplayCommand.help)
        """

    static func run(_ words: [String]) async throws(CommandError) {
        let rest = Array(words.dropFirst())
        switch words.first {
        case "replay": try LimitsReplayCommand.run(rest)
        default: throw .usage("the word after 'limits' must be replay")
        }
    }
}
