/// `broker limits override` and `broker limits clear`.
enum LimitsOverrideCommand {
    static let help = """
        override  lets another limit hold for a while (--for takes s, m, h or d), from the next batch of every
                  replica on: at most --burst at once, and --rate every --per seconds. It begins full, and
                  the declared limit finds its own state again afterwards. One that is there already is
                  replaced; --lift ends it. One of an install goes before one of each install. There are 1000
                  at most. The login that made it is kept with it.
        clear     makes a limit full again, once.
        """

    static func override(_ words: [String]) async throws(CommandError) {
        let arguments = try Arguments(
            words,
            options: DatabaseOptions.options.union(LimitSubject.options).union([
                "--burst", "--rate", "--per", "--for", "--reason",
            ]), flags: LimitSubject.flags.union(["--lift"]))
        let subject = try LimitSubject.read(arguments)
        if arguments.has("--lift") { return try await lift(subject, arguments) }
        let limit = LimitSettings(
            burst: try number("--burst", arguments, upTo: LimitSettings.largest),
            rate: try number("--rate", arguments, upTo: LimitSettings.largest),
            per: try number("--per", arguments, upTo: LimitSettings.longestPer))
        guard let seconds = Lifetime.seconds(try arguments.required("--for")) else {
            throw .usage("--for must be a number with s, m, h or d, such as 2h")
        }
        let reason = try arguments.remark("--reason", maximumLength: 500)
        let repository = LimitRepository(connection: try DatabaseOptions.connection(arguments))
        let outcome: LimitRepository.Outcome
        do {
            outcome = try await repository.override(
                subject, limit, seconds: seconds, reason: reason)
        } catch { throw CommandError(error) }
        switch outcome {
        case .made(let endsAt):
            Output.line("\(subject): \(limit), until \(Timestamp.rfc3339(microseconds: endsAt))")
        case .unknownSubject: throw unknown(subject)
        case .tooMany:
            throw .refused("there are as many overrides as there may be: lift one with --lift")
        }
    }

    static func clear(_ words: [String]) async throws(CommandError) {
        let arguments = try Arguments(
            words, options: DatabaseOptions.options.union(LimitSubject.options))
        let subject = try LimitSubject.read(arguments)
        let repository = LimitRepository(connection: try DatabaseOptions.connection(arguments))
        let isKnown: Bool
        do { isKnown = try await repository.clear(subject) } catch { throw CommandError(error) }
        guard isKnown else { throw unknown(subject) }
        Output.line("\(subject): full again")
    }

    private static func lift(
        _ subject: LimitOverride.Subject, _ arguments: Arguments
    ) async throws(CommandError) {
        for name in ["--burst", "--rate", "--per", "--for", "--reason"]
        where arguments.value(name) != nil {
            throw .usage("--lift ends an override and takes no \(name)")
        }
        let repository = LimitRepository(connection: try DatabaseOptions.connection(arguments))
        let isLifted: Bool
        do { isLifted = try await repository.lift(subject) } catch { throw CommandError(error) }
        guard isLifted else { throw .notFound("there is no override of \(subject)") }
        Output.line("\(subject): as declared")
    }

    private static func unknown(_ subject: LimitOverride.Subject) -> CommandError {
        .notFound(subject.scope == .tenant ? "there is no such tenant" : "there is no such client")
    }

    private static func number(
        _ name: String, _ arguments: Arguments, upTo largest: Int64
    ) throws(CommandError) -> Int64 {
        guard let number = Int64(try arguments.required(name)), (1...largest).contains(number)
        else {
            throw .usage("\(name) must be a whole number from 1 to \(largest)")
        }
        return number
    }
}
