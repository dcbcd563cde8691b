import Foundation
import Glibc

/// A program started with nothing of this process but the three descriptors it is given.
///
/// Foundation's `Process` learns of a child's end through a socket that children started at the same moment inherit: beside
/// one that lives long, the end of a short one is never seen.
struct ChildProcess: Sendable {
    let identifier: pid_t

    /// Starts `command`, found in `PATH`.
    ///
    /// - Parameter environment: the whole environment; this process's when `nil`.
    init(
        _ command: [String], environment: [String: String]? = nil, input: Int32, output: Int32,
        error: Int32
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (given, standard) in [
            (input, STDIN_FILENO), (output, STDOUT_FILENO), (error, STDERR_FILENO),
        ] {
            posix_spawn_file_actions_adddup2(&actions, given, standard)
        }
        try Self.addCloseFrom(&actions, 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        // This process ignores it; a shell must not.
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let environment = environment ?? ProcessInfo.processInfo.environment
        var arguments = command.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var identifier: pid_t = 0
        let failure = posix_spawnp(
            &identifier, command[0], &actions, &attributes, &arguments, &variables)
        guard failure == 0 else {
            throw ProcessFailure(
                description: "\(command[0]): \(String(cString: strerror(failure)))")
        }
        self.identifier = identifier
    }

    /// glibc has this since 2.34; its header hides it from Swift.
    private static func addCloseFrom(
        _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ lowest: Int32
    ) throws {
        typealias Function =
            @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else {
            throw ProcessFailure(description: "this C library cannot close descriptors for a child")
        }
        _ = unsafeBitCast(symbol, to: Function.self)(actions, lowest)
    }

    /// Calls `then` once with the end, on a thread that waits for nothing else.
    func whenEnded(_ then: @escaping @Sendable (ProcessEnd) -> Void) {
        let identifier = identifier
        Thread.detachNewThread {
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7f
            then(signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal))
        }
    }
}

/// How a process ended.
enum ProcessEnd: Sendable, Equatable {
    case exited(Int32)
    case signalled(Int32)

    /// The exit status, or the signal's number.
    var number: Int32 {
        switch self {
        case .exited(let status): status
        case .signalled(let signal): signal
        }
    }
}
