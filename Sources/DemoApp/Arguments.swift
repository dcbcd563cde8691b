/// What the command line asks for.
enum Arguments: Equatable {
    case help
    case wrong(String)
    /// - readyFile: as `script/server` writes it.
    /// - clientId: the only client to sign in with; `nil` means each of the file.
    case check(readyFile: String, clientId: String?)

    static let usage = """
        Usage: demo-app check --ready FILE [--client ID]

        Signs in as an app would, through ClientShim, at the provider and with the broker that FILE
        names (script/server writes it), and prints a line a step. Without --client it does so as each
        client of the file.

        Exit status: 0 when every step held, 1 when one did not (it is named), 2 for wrong usage.
        """

    init(_ arguments: some Sequence<String>) {
        var rest = Array(arguments)
        if rest.contains("--help") || rest.contains("-h") {
            self = .help
            return
        }
        guard rest.first == "check" else {
            self = .wrong("the first argument must be check")
            return
        }
        rest.removeFirst()
        var options: [String: String] = [:]
        while !rest.isEmpty {
            let name = rest.removeFirst()
            guard name == "--ready" || name == "--client", options[name] == nil else {
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
        self = .check(readyFile: ready, clientId: options["--client"])
    }
}
