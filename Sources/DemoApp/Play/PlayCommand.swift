import ClientShim
import Dispatch
import FoundationEssentials

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// `demo-app play`: a person, or a script, plays the phone.
struct PlayCommand {
    let readyFile: String
    let clientId: String?
    /// `nil` for standard input.
    let script: String?

    /// - Returns: the exit status.
    func run() async -> Int32 {
        // A reader of the output that went away is no reason to leave the phone's keys behind.
        signal(SIGPIPE, SIG_IGN)
        let (ready, client): (ReadyFile, ReadyFile.Client)
        do throws(ReadyFile.Unreadable) {
            ready = try ReadyFile(path: readyFile)
            guard let found = ready.clients.first(where: { clientId ?? $0.clientId == $0.clientId })
            else { throw ReadyFile.Unreadable(reason: "no such client in \(readyFile)") }
            client = found
        } catch {
            say("demo-app: \(error.reason)")
            return 1
        }
        let commands: CommandLines
        do { commands = try CommandLines(script: script) } catch {
            say("demo-app: \(error.reason)")
            return 1
        }
        let board = Board(
            painter: Painter(usesColours: Self.usesColours), clock: SystemClock())
        let signals = CommandLines.onStopSignals {
            board.interrupt()
            commands.end()
        }
        defer { withExtendedLifetime(signals) {} }
        do {
            let player = try Player(ready: ready, client: client, board: board)
            let status = await play(commands, player, board)
            await player.close()
            return status
        } catch {
            say("demo-app: the phone does not start: \(error)")
            return 1
        }
    }

    private func play(_ commands: CommandLines, _ player: Player, _ board: Board) async -> Int32 {
        if commands.isInteractive { board.post(.said("help lists what you can do")) }
        for await (number, line) in commands.lines {
            if board.isInterrupted { break }
            if !commands.isInteractive, !line.isEmpty { board.post(.typed(line)) }
            do throws(CommandFault) {
                guard let command = try PhoneCommand(line) else { continue }
                guard try await player.perform(command) else { return 0 }
            } catch {
                if board.isInterrupted { break }
                guard !commands.isInteractive else {
                    board.post(.refused(error.reason))
                    continue
                }
                board.post(.refused("line \(number): \(error.reason)"))
                return 1
            }
        }
        return board.isInterrupted && !commands.isInteractive ? 1 : 0
    }

    private static var usesColours: Bool {
        let environment = ProcessInfo.processInfo.environment
        return isatty(STDOUT_FILENO) == 1 && (environment["NO_COLOR"] ?? "").isEmpty
            && environment["TERM"] != "dumb"
    }
}

/// The commands, a numbered line each.
struct CommandLines: Sendable {
    let isInteractive: Bool
    let lines: AsyncStream<(Int, String)>
    private let continuation: AsyncStream<(Int, String)>.Continuation

    init(script: String?) throws(ReadyFile.Unreadable) {
        (lines, continuation) = AsyncStream.makeStream(of: (Int, String).self)
        isInteractive = script == nil && isatty(STDIN_FILENO) == 1
        guard let script else {
            readStandardInput()
            return
        }
        guard let data = FileManager.default.contents(atPath: script) else {
            throw ReadyFile.Unreadable(reason: "\(script) cannot be read")
        }
        let texts = String(decoding: data, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in texts.enumerated() { continuation.yield((index + 1, String(line))) }
        continuation.finish()
    }

    /// Nothing more is read.
    func end() { continuation.finish() }

    /// Reading blocks, so it has a thread of its own.
    private func readStandardInput() {
        DispatchQueue(label: "commands").async { [continuation] in
            var number = 0
            while let line = readLine() {
                number += 1
                continuation.yield((number, line))
            }
            continuation.finish()
        }
    }

    /// Calls `then` at each signal that asks for the end.
    static func onStopSignals(
        _ then: @escaping @Sendable () -> Void
    ) -> [any DispatchSourceSignal] {
        [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler(handler: then)
            source.activate()
            return source
        }
    }
}
