import Foundation

/// Runs `AppProbe` with a library that counts its system calls on one directory, writes them down, and ends, holds up or fails
/// the one it was told (Tests/Faults/file_calls.c).
public struct FileCalls: Sendable {
    /// What happens at a call, counted from 1.
    public enum Fault: Sendable {
        case none
        /// The process ends right before it.
        case kill(Int)
        /// It is not made and gives that error.
        case fail(Int, errno: Int32)
        /// A write takes half of what it is given.
        case short(Int)
        /// The process says `held` right before it and waits until somebody writes to the pipe `gate` on its device.
        case hold(Int)

        fileprivate func variables(_ gate: String) -> [String: String] {
            switch self {
            case .none: [:]
            case .kill(let number): ["FILE_CALLS_KILL": "\(number)"]
            case .fail(let number, let errno): ["FILE_CALLS_FAIL": "\(number):\(errno)"]
            case .short(let number): ["FILE_CALLS_FAIL": "\(number):short"]
            case .hold(let number): ["FILE_CALLS_HOLD": "\(number)", "FILE_CALLS_GATE": gate]
            }
        }
    }

    /// `AppProbe`, beside the running test bundle.
    public static var program: String {
        let bundle = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        return bundle.deletingLastPathComponent().appendingPathComponent("AppProbe").path
    }

    private let library: String

    /// Builds the library in `directory`; every toolchain has a C compiler beside `swift`.
    public init(in directory: TemporaryDirectory) async throws {
        library = directory.file("file_calls.so")
        let build = """
            clang=$(dirname "$(readlink -f "$(command -v swift)")")/clang
            exec "$clang" -shared -fPIC -O1 -o "$1" "$2" -ldl -lpthread
            """
        try await runChecked([
            "bash", "-c", build, "build", library, Fixtures.path("Faults/file_calls.c"),
        ])
    }

    /// The probe's directory on a device, by the one name that the kernel knows it by.
    public static func disk(of device: TemporaryDirectory) -> String {
        URL(fileURLWithPath: device.path).resolvingSymlinksInPath()
            .appendingPathComponent("disk").path
    }

    /// Starts the probe; its directory is `disk(of:)`, beside which its calls are written down.
    public func start(
        _ arguments: [String], on device: TemporaryDirectory, _ fault: Fault = .none
    ) throws -> RunningProcess {
        var environment = ProcessInfo.processInfo.environment
        environment["LD_PRELOAD"] = library
        environment["FILE_CALLS_UNDER"] = Self.disk(of: device)
        environment["FILE_CALLS_LOG"] = device.file("calls")
        environment.merge(fault.variables(device.file("gate"))) { $1 }
        return try RunningProcess([Self.program] + arguments, environment: environment)
    }

    /// The calls that were written down on that device.
    public static func calls(on device: TemporaryDirectory) throws -> [FileCall] {
        // There is no file when the program was ended before its first.
        guard FileManager.default.fileExists(atPath: device.file("calls")) else { return [] }
        return String(decoding: try device.read("calls"), as: UTF8.self).split(separator: "\n")
            .compactMap { FileCall($0) }
    }
}

/// A system call on the directory, or a line that the program printed.
public struct FileCall: Sendable {
    /// Counted from 1; 0 for a printed line.
    public let number: Int
    /// The system call's, or how a file is opened.
    public let name: String
    /// What it gave; -errno when it failed.
    public let result: Int
    /// Paths relative to the directory, descriptors, octets; the whole line for a printed one.
    public let arguments: [String]

    init?(_ line: Substring) {
        let words = line.split(separator: " ", maxSplits: 3).map { String($0) }
        guard words.count == 4, let number = Int(words[0]), let result = Int(words[2]) else {
            return nil
        }
        self.number = number
        name = words[1]
        self.result = result
        arguments =
            name == "say"
            ? [words[3].trimmingCharacters(in: .whitespaces)]
            : words[3].split(separator: " ").map { String($0) }
    }

    /// What the program printed.
    public var said: String? { name == "say" ? arguments[0] : nil }
}
