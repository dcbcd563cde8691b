import Glibc

/// An outside program: a judge or a tool of these tests. Foundation's `Process` is not used, since the address sanitizer
/// stops at a fault of its own.
final class Command {
    struct Result: Sendable {
        var status: Int32
        var output: String
        var errors: String
    }

    private var process: pid_t = 0
    private var input: Int32
    private let output: Int32
    private let errors: Int32

    /// Starts a program found on the PATH.
    init(_ name: String, _ arguments: [String]) throws {
        let (input, output, errors) = (try Pipe(), try Pipe(), try Pipe())
        (self.input, self.output, self.errors) = (input.writing, output.reading, errors.reading)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (end, number) in [(input.reading, 0), (output.writing, 1), (errors.writing, 2)] {
            posix_spawn_file_actions_adddup2(&actions, end, Int32(number))
        }
        // A Dispatch thread blocks most signals; a program of its own must not.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words: [UnsafeMutablePointer<CChar>?] = ([name] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        let failure = posix_spawnp(&process, name, &actions, &attributes, &words, environ)
        for end in [input.reading, output.writing, errors.writing] { close(end) }
        guard failure == 0 else { throw ClientError(text: "\(name): error \(failure)") }
    }

    deinit { for end in [input, output, errors] where end >= 0 { close(end) } }

    func endInput() {
        close(input)
        input = -1
    }

    func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// One line of the program's output.
    func readLine() -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1, byte != 10 { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Waits for the program's end.
    func finish() -> Result {
        let (output, errors) = readToEnd()
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return Result(status: status, output: output, errors: errors)
    }

    /// Runs a program with this input to its end.
    static func run(_ name: String, _ arguments: [String], input: String = "") async throws
        -> Result
    {
        try await offPool {
            let command = try Command(name, arguments)
            command.write(input)
            command.endInput()
            return command.finish()
        }
    }

    /// Reads both streams as they come: a program that finds one of them full stands still.
    private func readToEnd() -> (output: String, errors: String) {
        var streams = [output, errors].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var texts: [[UInt8]] = [[], []]
        var buffer = [UInt8](repeating: 0, count: 4096)
        while streams.contains(where: { $0.fd >= 0 }), poll(&streams, 2, -1) >= 0 || errno == EINTR
        {
            for index in streams.indices where streams[index].revents != 0 {
                let count = read(streams[index].fd, &buffer, buffer.count)
                if count > 0 { texts[index] += buffer[..<count] } else { streams[index].fd = -1 }
            }
        }
        return (
            String(decoding: texts[0], as: UTF8.self), String(decoding: texts[1], as: UTF8.self)
        )
    }

    /// A pair of sockets, which unlike a pipe of the Glibc module can be closed to other programs from its birth.
    private struct Pipe {
        let reading: Int32
        let writing: Int32

        init() throws {
            var ends: [Int32] = [0, 0]
            let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
                throw ClientError(text: "socketpair: \(errno)")
            }
            (reading, writing) = (ends[0], ends[1])
        }
    }
}
