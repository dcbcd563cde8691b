import AssertionMint
import Glibc
import JOSE

/// `broker key rotate`: one key after the other without an outage, step by step by what the database has.
struct KeyRotateCommand {
    private let client: ClientId
    private let repository: KeyRepository
    private let key: KeyCommand.OpenedKey
    /// `nil` where no provider is asked.
    private let acceptance: KeyAcceptance?
    private let waits: Bool

    static func run(_ words: [String]) async throws(CommandError) {
        let arguments = try Arguments(
            words,
            options: DatabaseOptions.options.union(["--out", "--uri"]).union(KeyAcceptance.options),
            flags: ["--no-wait", "--probe", "--use-proxy"], positional: 1...1)
        let client = try KeyCommand.clientId(arguments.positional[0])
        let acceptance = try KeyAcceptance(arguments)
        let repository = KeyRepository(connection: try DatabaseOptions.connection(arguments))
        let life = try await life(of: client, repository)
        let rotation = KeyRotateCommand(
            client: client, repository: repository,
            key: try target(arguments, life: life), acceptance: acceptance,
            waits: !arguments.has("--no-wait"))
        try await rotation.run()
    }

    private func run() async throws(CommandError) {
        while true {
            let life = try await Self.life(of: client, repository)
            switch KeyRotation.next(to: key.kid, in: life) {
            case .add: try await change(.add(key.declared), "key \(key.kid) is published")
            case .activate:
                try await acceptance?.wait(for: key, life: life, waits: waits)
                try await change(.activate(kid: key.kid), "key \(key.kid) signs")
            case .retire(let kid): try await change(.retire(kid: kid), "key \(kid) is retired")
            case .wait(let seconds, let reason):
                Output.note("\(seconds) s until \(text(reason))")
                guard waits else { throw .notYet("run it again in \(seconds) s") }
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

    private func change(_ change: KeyLife.Change, _ told: String) async throws(CommandError) {
        try await KeyChangeCommand.change(repository, client, change, told)
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
        _ arguments: Arguments, life: KeyLife
    ) throws(CommandError) -> KeyCommand.OpenedKey {
        switch (arguments.value("--out"), arguments.value("--uri")) {
        case (nil, let uri?): return try KeyCommand.open(uri)
        case (let path?, nil):
            let uri = KeyGenerateCommand.uri(of: path)
            if access(path, F_OK) != 0 {
                // Made by an earlier run on another machine; one more key of that name would be two for the replicas.
                if let known = life.stored.first(where: { $0.key.uri == uri }) {
                    throw .refused(
                        "key \(known.key.kid) is at \(uri) already, and the file is not here; copy it here first"
                    )
                }
                _ = try KeyGenerateCommand.generate(life.settings.algorithm, at: path)
                Output.line("a new key is in \(path); copy it to every replica now")
            }
            return try KeyCommand.open(uri)
        default: throw .usage("give either --out or --uri")
        }
    }

    private func text(_ reason: KeyRotation.Reason) -> String {
        switch reason {
        case .publication: "every provider has fetched key \(key.kid) and it may sign"
        case .schedule: "key \(key.kid) takes over, as 'activate --at' says"
        case .expiry(let kid): "the last assertion by key \(kid) has expired"
        }
    }
}
