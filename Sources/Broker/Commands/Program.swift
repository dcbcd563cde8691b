/// The `broker` command: finds the subcommand, prints its help, and turns its end into an exit code.
enum Program {
    static let help = """
        Usage: broker COMMAND [OPTIONS]

          serve         mint assertions until told to stop
          check-config  check the configuration of serve
          migrate       bring the database's schema up to date
          apply         declare tenants, clients, keys, gates and limits from a file
          token         create, list and revoke API tokens of backends and providers
          block         refuse assertions to an install
          unblock       lift a block
          limits        show, override and clear rate limits; run a past log against others
          key           generate, publish, activate, retire and rotate signing keys
          doctor        look for faults of the deployment, with what to do about each

        broker COMMAND --help tells more. Exit codes: 0 done, 1 doctor found a fault, 64 the command
        line is wrong, 65 a file or setting was refused, 66 not found, 69 something outside is
        unavailable, 75 run it again later.
        """

    /// - Returns: the process's exit code.
    static func run(_ words: [String]) async -> Int32 {
        guard let name = words.first, !["help", "--help", "-h"].contains(name) else {
            Output.line(help)
            return words.isEmpty ? 64 : 0
        }
        let rest = Array(words.dropFirst())
        guard let command = command(name) else {
            Output.note("broker: unknown command '\(name)'; 'broker --help' lists them")
            return 64
        }
        if rest.contains("--help") || rest.contains("-h") {
            Output.line(command.help)
            return 0
        }
        do {
            try await command.run(rest)
            return 0
        } catch {
            Output.note("broker \(name): \(error.message)")
            if case .usage = error { Output.note("'broker \(name) --help' tells more") }
            return error.exitCode
        }
    }

    private typealias Command = (help: String, run: ([String]) async throws(CommandError) -> Void)

    private static func command(_ name: String) -> Command? {
        switch name {
        case "serve": (ServeCommand.help, ServeCommand.run)
        case "check-config": (ServeCommand.checkHelp, ServeCommand.check)
        case "migrate": (MigrateCommand.help, MigrateCommand.run)
        case "apply": (ApplyCommand.help, ApplyCommand.run)
        case "token": (TokenCommand.help, TokenCommand.run)
        case "block": (BlockCommand.help, BlockCommand.block)
        case "unblock": (BlockCommand.help, BlockCommand.unblock)
        case "limits": (LimitsCommand.help, LimitsCommand.run)
        case "key": (KeyCommand.help, KeyCommand.run)
        case "doctor": (DoctorCommand.help, DoctorCommand.run)
        default: nil
        }
    }
}
