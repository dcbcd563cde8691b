import Glibc
import JOSE

OpenSSLLifetime.coverExit()
let status: Int32
do {
    switch try Arguments(Array(CommandLine.arguments.dropFirst())) {
    case .help:
        Output.line(Arguments.helpText, to: STDOUT_FILENO)
    case .serve(let configFile):
        try await ServeCommand(configFile: configFile).run()
    }
    status = 0
} catch let error as UsageError {
    Output.line("sandbox-idp: \(error.reason); see sandbox-idp --help", to: STDERR_FILENO)
    status = 2
} catch let error as StartError {
    for reason in error.reasons { Output.line("sandbox-idp: \(reason)", to: STDERR_FILENO) }
    status = 1
} catch {
    Output.line("sandbox-idp: cannot start", to: STDERR_FILENO)
    status = 1
}
exit(status)
