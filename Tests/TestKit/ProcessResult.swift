import Foundation

/// How a process ended and what it wrote.
public struct ProcessResult: Sendable {
    /// The exit status; a signal's number when one ended it.
    public let status: Int32
    /// Everything on standard output.
    public let output: [UInt8]
    /// Everything on standard error, as text.
    public let errorText: String

    /// Standard output as text.
    public var outputText: String { String(decoding: output, as: UTF8.self) }
}

/// A process that ended with another status than 0.
public struct ProcessFailure: Error, CustomStringConvertible {
    /// The program and its arguments, and what it wrote on standard error.
    public let description: String
}

/// Runs a program found in `PATH` and waits for its end without holding a thread.
///
/// Input and output go through files: however much there is, neither side can wait for the other.
///
/// - Parameters:
///   - command: the program and its arguments.
///   - input: standard input, whole.
public func runProcess(_ command: [String], input: [UInt8] = []) async throws -> ProcessResult {
    let directory = try TemporaryDirectory()
    let inputHandle = try directory.open(try directory.write(input, to: "input"))
    let outputHandle = try directory.open(try directory.write([], to: "output"))
    let errorHandle = try directory.open(try directory.write([], to: "error"))
    let child = try ChildProcess(
        command, input: inputHandle.fileDescriptor, output: outputHandle.fileDescriptor,
        error: errorHandle.fileDescriptor)
    let end = await withCheckedContinuation { continuation in
        child.whenEnded { continuation.resume(returning: $0) }
    }
    return ProcessResult(
        status: end.number, output: try directory.read("output"),
        errorText: String(decoding: try directory.read("error"), as: UTF8.self))
}

/// As `runProcess`, but any exit status other than 0 is an error that shows what the program complained about.
@discardableResult
public func runChecked(_ command: [String], input: [UInt8] = []) async throws -> [UInt8] {
    let result = try await runProcess(command, input: input)
    guard result.status == 0 else {
        throw ProcessFailure(
            description: "\(command.joined(separator: " ")): status \(result.status)\n"
                + result.errorText)
    }
    return result.output
}
