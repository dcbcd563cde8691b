import ClientShim

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

switch Arguments(CommandLine.arguments.dropFirst()) {
case .help:
    say(Arguments.usage)
case .wrong(let reason):
    say("demo-app: \(reason)\n\n\(Arguments.usage)")
    exit(2)
case .check(let readyFile, let clientId):
    exit(await CheckCommand(readyFile: readyFile, clientId: clientId).run() ? 0 : 1)
}
