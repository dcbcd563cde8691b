/// What the command line asks for.
enum Arguments: Equatable {
    case help
    case wrong(String)
    /// - readyFile: as `script/server` writes it.
    /// - clientId: the only client to sign in with; `nil` means each of the file.
    case check(readyFile: String, clientId: String?)
    /// - clientId: `nil` means the first of the file.
    /// - script: a file of commands; `nil` means standard input.
    case play(readyFile: String, clientId: String?, script: String?)

    static let usage = """
        Usage: demo-app check --ready FILE [--client ID]
               demo-app play --ready FILE [--client ID] [--script FILE]

        check signs in as an app would, through ClientShim, at the provider and with the broker that
        FILE names (script/server writes it), and prints a line a step. Without --client it does so as
        each client of the file.

        play lets you be the phone: commands, a line each, from the terminal or from --script; the
        command help lists them. From a script or a pipe, the first command that cannot be carried
        out ends it.

        Exit status: 0 when every step held, 1 when one did not (it is named), 2 for wrong usage.
        """

    init(_ arguments: some Sequence<String>) {
        var rest = Array(arguments)
        if rest.contains("--help") || rest.contains("-h") {
            self = .help
            return
        }
        guard let command = rest.first, ["check", "play"].contains(command) else {
            self = .wrong("the first argument must be check or play")
            return
        }
        rest.removeFirst()
        let names = ["--ready", "--client"] + (command == "play" ? ["--script"] : [])
        var options: [String: String] = [:]
        while !rest.isEmpty {
            let name = rest.removeFirst()
            guard names.contains(name), options[name] == nil else {
                self = .wrong("unexpected argument \(name)")
                return
            }
            guard !rest.isEmpty else {
                self = .wrong("\(name) needs a value")
                return
            }
            options[name] = rest.removeFirst()
        }
        guard let ready = options["--ready"] else {
            self = .wrong("--ready is missing")
            return
        }
        self =
            command == "check"
            ? .check(readyFile: ready, clientId: options["--client"])
            : .play(
                readyFile: ready, clientId: options["--client"], script: options["--script"])
    }
}
