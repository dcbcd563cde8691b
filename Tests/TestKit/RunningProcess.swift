import Foundation
import Glibc
import Synchronization

/// A program that runs beside the test: its lines of output are events to wait for. Killed when this object goes.
public final class RunningProcess: Sendable {
    private struct State {
        var lines: [String] = []
        var hasEnded = false
        var end: ProcessEnd?
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let child: ChildProcess
    private let directory: TemporaryDirectory
    private let state = Mutex(State())

    /// Starts a program found in `PATH`.
    ///
    /// - Parameters:
    ///   - command: the program and its arguments.
    ///   - environment: the whole environment.
    public init(_ command: [String], environment: [String: String]) throws {
        directory = try TemporaryDirectory()
        let output = Pipe()
        let nothing = try directory.open("/dev/null")
        let errors = try directory.open(try directory.write([], to: "error"))
        child = try ChildProcess(
            command, environment: environment, input: nothing.fileDescriptor,
            output: output.fileHandleForWriting.fileDescriptor, error: errors.fileDescriptor)
        try output.fileHandleForWriting.close()
        child.whenEnded { [weak self] end in self?.change { $0.end = end } }
        let reading = output.fileHandleForReading
        Thread.detachNewThread { [weak self] in
            var rest: [UInt8] = []
            while true {
                let chunk = reading.availableData
                rest += chunk
                var lines = rest.split(separator: 0x0a, omittingEmptySubsequences: false)
                rest = Array(lines.removeLast())
                let texts = lines.map { String(decoding: $0, as: UTF8.self) }
                self?.change {
                    $0.lines += texts
                    $0.hasEnded = chunk.isEmpty
                }
                if chunk.isEmpty { return }
            }
        }
    }

    deinit {
        // Not before it was waited for is the number another process's.
        if state.withLock({ $0.end == nil }) { kill(child.identifier, SIGKILL) }
    }

    /// The process's number.
    public var identifier: Int32 { child.identifier }

    /// Every whole line of standard output so far.
    public var lines: [String] { state.withLock { $0.lines } }

    /// Everything on standard error so far.
    public func errorText() throws -> String {
        String(decoding: try directory.read("error"), as: UTF8.self)
    }

    /// Sends a signal.
    public func signal(_ number: Int32) { kill(child.identifier, number) }

    /// Waits for a line of standard output for which `isWanted` holds; the first such line, also when it is there already.
    public func line(where isWanted: @Sendable (String) -> Bool) async throws -> String {
        try await lines(1, where: isWanted)[0]
    }

    /// Waits for `count` such lines, and gives all there are.
    public func lines(
        _ count: Int, where isWanted: @Sendable (String) -> Bool
    ) async throws -> [String] {
        while true {
            let (found, hasEnded) = state.withLock { state in
                (state.lines.filter(isWanted), state.hasEnded)
            }
            if found.count >= count { return found }
            if hasEnded {
                throw ProcessFailure(description: "ended without the line; \(try errorText())")
            }
            await nextChange(unless: { $0.hasEnded || $0.lines.count(where: isWanted) >= count })
        }
    }

    /// Waits for the end, and for all output; the exit status, or the number of the signal that ended it.
    public func status() async -> Int32 {
        while true {
            let (end, hasEnded) = state.withLock { ($0.end, $0.hasEnded) }
            if let end, hasEnded { return end.number }
            await nextChange(unless: { $0.end != nil && $0.hasEnded })
        }
    }

    /// Whether it was a signal that ended the process.
    public var wasEndedBySignal: Bool {
        if case .signalled = state.withLock({ $0.end }) { true } else { false }
    }

    private func change(_ body: (inout State) -> Void) {
        let waiting = state.withLock { state in
            body(&state)
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting.forEach { $0.resume() }
    }

    /// Waits until something changed, unless `isSatisfied` already.
    private func nextChange(unless isSatisfied: (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isNow = state.withLock { state in
                let isNow = isSatisfied(state)
                if !isNow { state.waiting.append(continuation) }
                return isNow
            }
            if isNow { continuation.resume() }
        }
    }
}
