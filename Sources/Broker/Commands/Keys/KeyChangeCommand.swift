import AssertionMint

/// `broker key add`, `activate` and `retire`: one step in the life of a key.
enum KeyChangeCommand {
    static func add(_ words: [String]) async throws(CommandError) {
        let arguments = try Arguments(
            words, options: DatabaseOptions.options.union(["--uri", "--kid"]), positional: 1...1)
        let client = try KeyCommand.clientId(arguments.positional[0])
        let kid = try arguments.value("--kid").map(kid)
        let key = try KeyCommand.open(try arguments.required("--uri"), kid: kid).declared
        let repository = KeyRepository(connection: try DatabaseOptions.connection(arguments))
        try await change(repository, client, .add(key), "key \(key.kid) is published")
    }

    static func activate(_ words: [String]) async throws(CommandError) {
        let step = try Step(words, options: ["--at"])
        let kid = step.kid
        guard let text = step.arguments.value("--at") else {
            return try await change(
                step.repository, step.client, .activate(kid: kid), "key \(kid) signs",
                now: step.arguments.has("--now"))
        }
        guard !step.arguments.has("--now") else { throw .usage("give either --now or --at") }
        let moment = try moment(text)
        let outcome: KeyLife.Outcome?
        do {
            outcome = try await step.repository.schedule(step.client, kid: kid, at: moment)
        } catch {
            throw CommandError(error)
        }
        try tell(
            outcome, step.client,
            moment == nil
                ? "key \(kid) does not take over by itself" : "key \(kid) signs from \(text)")
    }

    static func retire(_ words: [String]) async throws(CommandError) {
        let step = try Step(words)
        try await change(
            step.repository, step.client, .retire(kid: step.kid), "key \(step.kid) is retired",
            now: step.arguments.has("--now"))
    }

    /// The words of a command about one key.
    private struct Step {
        let arguments: Arguments
        let client: ClientId
        let kid: String
        let repository: KeyRepository

        init(_ words: [String], options: Set<String> = []) throws(CommandError) {
            arguments = try Arguments(
                words, options: DatabaseOptions.options.union(options), flags: ["--now"],
                positional: 2...2)
            client = try KeyCommand.clientId(arguments.positional[0])
            kid = try KeyChangeCommand.kid(arguments.positional[1])
            repository = KeyRepository(connection: try DatabaseOptions.connection(arguments))
        }
    }

    /// Seconds since 1970 UTC; `nil` for `never`.
    private static func moment(_ text: String) throws(CommandError) -> Int64? {
        if text == "never" { return nil }
        let whole = text.hasSuffix("Z") ? text.dropLast() + ".000000Z" : ""
        guard let microseconds = Timestamp.microseconds(rfc3339: String(whole)) else {
            throw .usage("--at must be 'never' or a moment in UTC such as 2026-12-01T03:00:00Z")
        }
        return microseconds / 1_000_000
    }

    static func change(
        _ repository: KeyRepository, _ client: ClientId, _ change: KeyLife.Change,
        _ told: String, now: Bool = false
    ) async throws(CommandError) {
        let outcome: KeyLife.Outcome?
        do { outcome = try await repository.change(client, change, now: now) } catch {
            throw CommandError(error)
        }
        try tell(outcome, client, told)
    }

    private static func tell(
        _ outcome: KeyLife.Outcome?, _ client: ClientId, _ told: String
    ) throws(CommandError) {
        switch outcome {
        case nil: throw .notFound("there is no client \(client)")
        case .unknownKey:
            throw .notFound("client \(client) has no such key; 'broker key list' shows them")
        case .refused(let reason): throw .refused("\(reason)\nnothing was changed")
        case .alreadySo: Output.line("\(told) already")
        case .keys, .scheduled: Output.line(told)
        }
    }

    private static func kid(_ text: String) throws(CommandError) -> String {
        guard let kid = ClientId(text)?.rawValue else {
            throw .usage("a kid is 1 to 128 printable ASCII characters without blanks")
        }
        return kid
    }
}
