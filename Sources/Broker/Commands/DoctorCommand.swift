import AssertionMint
import HTTPClient

/// `broker doctor`: looks for what will go wrong before a user does.
enum DoctorCommand {
    static let help = """
        Usage: broker doctor [--config FILE] [--client CLIENT_ID] [--probe] [--json] [--database-url URL]

        Looks at the database (reachable, durable, schema, clock, what the service's logins may do), at each
        client's keys (each is opened and signs), gates, tokens and limits, at the metadata and clock of
        each identity provider, and at each client's key set where the provider fetches it. Says of each how
        it stands, ok, warning or fault, and what to do about it. Shows the header and claims of an
        assertion of each client, never a signature. Changes nothing. Codes never change their meaning;
        docs/doctor.md lists them.

          --config FILE     the configuration of 'broker serve': the database is then reached as the
                            service reaches it, and what clients need of the server is looked at too
          --client ID       one client and its providers only
          --probe           asks each provider whether it accepts an assertion: a token request with a fresh
                            one and a worthless code. It leaves a line in the provider's log
          --offline         asks nobody but the database and the keys
          --ca-file FILE    PEM file of the only authorities to trust, for a private provider or broker
          --timeout SECONDS how long one answer may take, 1 to 60 (10)
          --use-proxy       goes through the proxy that https_proxy names, which is ignored otherwise
          --migrations DIR  where the migration files lie; as for 'broker migrate'
          --json            one JSON object for machines

        Run it where 'broker serve' runs and as its user, so that it sees the same keys and the same clock.
        Exit codes: 0 no fault, 1 at least one fault; the others as for each command.

        \(DatabaseOptions.help)
        """

    static func run(_ words: [String]) async throws(CommandError) {
        let arguments = try Arguments(
            words,
            options: DatabaseOptions.options.union([
                "--config", "--client", "--migrations", "--ca-file", "--timeout",
            ]), flags: ["--json", "--probe", "--offline", "--use-proxy"])
        guard !arguments.has("--offline") || !arguments.has("--probe") else {
            throw .usage("--probe asks providers, and --offline asks nobody")
        }
        let client = try LimitSubject.client(arguments)
        let https = try https(arguments)
        let configuration = try arguments.value("--config").map(ServeCommand.configuration)
        let diagnosis = try await doctor(arguments, configuration, https).examine(client: client)
        if arguments.has("--json") {
            Output.line(diagnosis.json(now: WallClock.system.microseconds()))
        } else {
            diagnosis.lines.forEach(Output.line)
        }
        guard diagnosis.result != .fault else { throw .faultsFound(diagnosis.summary) }
    }

    private static func doctor(
        _ arguments: Arguments, _ configuration: ServeConfiguration?, _ https: HTTPClient
    ) throws(CommandError) -> Doctor {
        let connection = ControlConnection(
            conninfo: try conninfo(arguments, configuration), statementLimitMilliseconds: 10_000)
        let migrator: Result<Migrator, CommandError>
        do {
            migrator = .success(
                try Migrations.migrator(
                    arguments.value("--migrations") ?? configuration?.migrationsDirectory))
        } catch {
            migrator = .failure(error)
        }
        let keys = SigningKeys()
        let fetch: ProviderFetcher = { await https.fetch($0) }
        return Doctor(
            database: DatabaseExamination(
                connection: connection, migrator: migrator,
                isServiceLogin: configuration != nil && !namesDatabase(arguments), clock: .system),
            directory: DirectoryExamination(
                connection: connection, keys: KeyExamination(keys: keys, clock: .system),
                server: configuration.map {
                    ServerFacts(publicURL: $0.publicURL, takesCertificates: $0.takesCertificates)
                }),
            network: arguments.has("--offline")
                ? nil
                : NetworkExamination(fetcher: DocumentFetcher(fetch: fetch, clock: .system)),
            probe: arguments.has("--probe")
                ? ProbeExamination(keys: keys, fetch: fetch, clock: .system) : nil)
    }

    /// Redirects are answers, certificates are verified, sizes and times are bounded.
    private static func https(_ arguments: Arguments) throws(CommandError) -> HTTPClient {
        guard let seconds = Int(arguments.value("--timeout") ?? "10"), (1...60).contains(seconds)
        else { throw .usage("--timeout must be a whole number of seconds from 1 to 60") }
        let caFile = arguments.value("--ca-file")
        // A file that is not there would look like a bad certificate of everybody's.
        if let caFile { _ = try TextFile.read(caFile) }
        return HTTPClient(
            configuration: HTTPClientConfiguration(
                caFile: caFile, connectTimeout: min(seconds, 5), readTimeout: seconds,
                totalTimeout: seconds, maximumBodyBytes: NetworkExamination.longestMetadata,
                allowInsecureLoopback: true, usesProxy: arguments.has("--use-proxy")))
    }

    private static func namesDatabase(_ arguments: Arguments) -> Bool {
        DatabaseOptions.options.contains { arguments.value($0) != nil }
    }

    /// What the command line names goes before what the configuration does.
    private static func conninfo(
        _ arguments: Arguments, _ configuration: ServeConfiguration?
    ) throws(CommandError) -> String {
        guard let configuration, !namesDatabase(arguments) else {
            return try DatabaseOptions.connectionString(arguments)
        }
        return try ServeCommand.connectionString(configuration)
    }
}
