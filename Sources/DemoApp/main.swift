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
case .play(let readyFile, let clientId, let script):
    exit(await PlayCommand(readyFile: readyFile, clientId: clientId, script: script).run())
}
