import Foundation
import Glibc

/// Programs run by `posix_spawn` and waited for by `waitpid`, each on a thread of its own.
///
/// Foundation's `Process` learns of an end through a socket whose other side every child started at the same moment
/// may inherit; with servers among them that end never comes.
enum ChildProgram {
    /// Runs a program found in `PATH` to its end and gives its standard output.
    ///
    /// - Throws: `ProcessFailure` with what it wrote on standard error, for any status but 0.
    static func run(_ command: [String]) async throws -> String {
        let output = try temporaryFile()
        let errors = try temporaryFile()
        let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
        let process = try spawn(command, input: input, output: output, errors: errors)
        let status = await withCheckedContinuation { continuation in
            DispatchQueue(label: "test.child").async {
                var status: Int32 = 0
                while waitpid(process, &status, 0) < 0, errno == EINTR {}
                continuation.resume(returning: status)
            }
        }
        defer { [input, output, errors].forEach { close($0) } }
        guard status == 0 else {
            throw ProcessFailure(
                description: "\(command.joined(separator: " ")): wait status \(status)\n"
                    + contents(errors))
        }
        return contents(output).trimmingCharacters(in: .newlines)
    }

    /// Starts a program found in `PATH` that nobody waits for.
    @discardableResult
    static func spawn(
        _ command: [String], input: Int32, output: Int32, errors: Int32
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (target, source) in [input, output, errors].enumerated() {
            posix_spawn_file_actions_adddup2(&actions, source, Int32(target))
        }
        var arguments = command.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var process: pid_t = 0
        let code = posix_spawnp(&process, command[0], &actions, nil, &arguments, environ)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        return process
    }

    /// An open file without a name.
    private static func temporaryFile() throws -> Int32 {
        var path = Array("/tmp/broker-test-output-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        unlink(path)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    private static func contents(_ descriptor: Int32) -> String {
        lseek(descriptor, 0, SEEK_SET)
        let data = try? FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).readToEnd()
        return String(decoding: data ?? Data(), as: UTF8.self)
    }
}
