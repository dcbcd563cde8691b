import AssertionMint
import JOSE

/// `broker key list`: where each key stands in its life.
enum KeyListCommand {
    static func run(_ words: [String]) async throws(CommandError) {
        let arguments = try Arguments(words, options: DatabaseOptions.options, positional: 0...1)
        let client = try arguments.positional.first.map(KeyCommand.clientId)
        let repository = KeyRepository(connection: try DatabaseOptions.connection(arguments))
        let lives: [KeyLife]
        do { lives = try await repository.all() } catch { throw CommandError(error) }
        let wanted = lives.filter { client == nil || $0.client == client }
        if let client, wanted.isEmpty { throw .notFound("there is no client \(client)") }
        for life in wanted {
            for row in life.stored {
                Output.line(
                    [
                        life.client.rawValue, row.key.kid, row.key.publicJWK.algorithm.rawValue,
                        row.key.state.rawValue, "\(row.age)", "\(life.wait(for: row))",
                        life.takeover[row.key.kid].map { "\(max(0, $0))" } ?? "-", row.key.uri,
                    ].joined(separator: "\t"))
            }
        }
    }
}
