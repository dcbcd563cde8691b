import AssertionMint
import Glibc
import JOSE

/// `broker key rotate`: one key after the other without an outage, step by step by what the database has.
enum KeyRotateCommand {
    static func run(_ words: [String]) async throws(CommandError) {
        let arguments = try Arguments(
            words, options: DatabaseOptions.options.union(["--out", "--uri"]),
            flags: ["--no-wait"], positional: 1...1)
        let client = try KeyCommand.clientId(arguments.positional[0])
        let repository = KeyRepository(connection: try DatabaseOptions.connection(arguments))
        let key = try target(
            arguments, algorithm: try await life(of: client, repository).algorithm)
        while true {
            let life = try await life(of: client, repository)
            switch KeyRotation.next(to: key.kid, in: life) {
            case .add:
                try await KeyChangeCommand.change(
                    repository, client, .add(key), "key \(key.kid) is published")
            case .activate:
                try await KeyChangeCommand.change(
                    repository, client, .activate(kid: key.kid), "key \(key.kid) signs")
            case .retire(let kid):
                try await KeyChangeCommand.change(
                    repository, client, .retire(kid: kid), "key \(kid) is retired")
            case .wait(let seconds, let reason):
                Output.note("\(seconds) s until \(text(reason, key))")
                guard !arguments.has("--no-wait") else {
                    throw .notYet("run it again in \(seconds) s")
                }
                do { try await Task.sleep(for: .seconds(seconds)) } catch {
                    throw .unavailable("interrupted")
                }
            case .done:
                Output.line("client \(client) signs with \(key.kid) alone")
                return
            case .outdated:
                throw .refused(
                    "key \(key.kid) was replaced already; name another file or URI for the next rotation"
                )
            }
        }
    }

    private static func life(
        of client: ClientId, _ repository: KeyRepository
    ) async throws(CommandError) -> KeyLife {
        let life: KeyLife?
        do { life = try await repository.life(of: client) } catch { throw CommandError(error) }
        guard let life else { throw .notFound("there is no client \(client)") }
        return life
    }

    /// The key to change to: the one at the URI, or in the file, which is made unless an earlier run has done it.
    private static func target(
        _ arguments: Arguments, algorithm: JWSAlgorithm
    ) throws(CommandError) -> Declaration.Key {
        switch (arguments.value("--out"), arguments.value("--uri")) {
        case (nil, let uri?): return try KeyCommand.key(at: uri)
        case (let path?, nil):
            if access(path, F_OK) != 0 {
                _ = try KeyGenerateCommand.generate(algorithm, at: path)
                Output.line("a new key is in \(path); copy it to every replica now")
            }
            return try KeyCommand.key(at: KeyGenerateCommand.uri(of: path))
        default: throw .usage("give either --out or --uri")
        }
    }

    private static func text(_ reason: KeyRotation.Reason, _ key: Declaration.Key) -> String {
        switch reason {
        case .publication: "every provider has fetched key \(key.kid) and it may sign"
        case .expiry(let kid): "the last assertion by key \(kid) has expired"
        }
    }
}
