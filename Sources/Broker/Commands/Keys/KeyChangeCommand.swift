import AssertionMint

/// `broker key add`, `activate` and `retire`: one step in the life of a key.
enum KeyChangeCommand {
    static func add(_ words: [String]) async throws(CommandError) {
        let arguments = try Arguments(
            words, options: DatabaseOptions.options.union(["--uri", "--kid"]), positional: 1...1)
        let client = try KeyCommand.clientId(arguments.positional[0])
        let kid = try arguments.value("--kid").map(kid)
        let key = try KeyCommand.key(at: try arguments.required("--uri"), kid: kid)
        let repository = KeyRepository(connection: try DatabaseOptions.connection(arguments))
        try await change(repository, client, .add(key), "key \(key.kid) is published")
    }

    static func activate(_ words: [String]) async throws(CommandError) {
        try await step(words) {
            .activate(kid: $0)
        } told: {
            "key \($0) signs"
        }
    }

    static func retire(_ words: [String]) async throws(CommandError) {
        try await step(words) {
            .retire(kid: $0)
        } told: {
            "key \($0) is retired"
        }
    }

    private static func step(
        _ words: [String], _ make: (String) -> KeyLife.Change, told: (String) -> String
    ) async throws(CommandError) {
        let arguments = try Arguments(
            words, options: DatabaseOptions.options, flags: ["--now"], positional: 2...2)
        let client = try KeyCommand.clientId(arguments.positional[0])
        let kid = try kid(arguments.positional[1])
        let repository = KeyRepository(connection: try DatabaseOptions.connection(arguments))
        try await change(
            repository, client, make(kid), told(kid), now: arguments.has("--now"))
    }

    static func change(
        _ repository: KeyRepository, _ client: ClientId, _ change: KeyLife.Change,
        _ told: String, now: Bool = false
    ) async throws(CommandError) {
        let outcome: KeyLife.Outcome?
        do { outcome = try await repository.change(client, change, now: now) } catch {
            throw CommandError(error)
        }
        switch outcome {
        case nil: throw .notFound("there is no client \(client)")
        case .unknownKey:
            throw .notFound("client \(client) has no such key; 'broker key list' shows them")
        case .refused(let reason): throw .refused("\(reason)\nnothing was changed")
        case .alreadySo: Output.line("\(told) already")
        case .keys: Output.line(told)
        }
    }

    private static func kid(_ text: String) throws(CommandError) -> String {
        guard let kid = ClientId(text)?.rawValue else {
            throw .usage("a kid is 1 to 128 printable ASCII characters without blanks")
        }
        return kid
    }
}
